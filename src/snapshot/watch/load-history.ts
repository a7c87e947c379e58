import type { RefusalReason } from '../format/refused-snapshot.ts';

export interface LoadInProgress {
  readonly file: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
}

export type LoadOutcome = LoadInProgress & { readonly durationMs: number } & (
    | {
        readonly outcome: 'live';
        readonly snapshotId: string;
        readonly producedAt: string;
        readonly organizations: number;
        readonly rows: number;
      }
    | {
        readonly outcome: 'refused';
        readonly reason: RefusalReason;
        readonly detail: string;
        /** Earliest time of the next load of the unchanged file; undefined when there is none. ISO 8601, UTC. */
        readonly nextTryAt?: string | undefined;
      }
  );

const MAX_LATEST = 50;

/** The current and the latest loads, and counts since the start of the process. */
export class LoadHistory {
  loading: LoadInProgress | undefined;
  /** Finished loads, latest first. */
  latest: readonly LoadOutcome[] = [];
  liveCount = 0;
  readonly refusals = new Map<RefusalReason, number>();
  /** By file that is in the folder. */
  readonly #latestOf = new Map<string, LoadOutcome>();

  add(load: LoadOutcome): void {
    this.latest = [load, ...this.latest].slice(0, MAX_LATEST);
    this.#latestOf.set(load.file, load);
    if (load.outcome === 'live') this.liveCount++;
    else this.refusals.set(load.reason, (this.refusals.get(load.reason) ?? 0) + 1);
  }

  /** Forgets a removed file. */
  forget(file: string): void {
    this.#latestOf.delete(file);
  }

  /** The refusals of the files that are in the folder now. */
  get refused() {
    return [...this.#latestOf.values()].filter((load) => load.outcome === 'refused');
  }
}
