/** What is asked of a server on this machine; the processes that make load take it as JSON, their one argument. */
export interface Traffic {
  readonly port: number;
  readonly credential: string;
  /** Paths with queries, asked for in turn. */
  readonly paths: readonly string[];
}
