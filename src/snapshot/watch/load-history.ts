import type { RefusalReason } from '../format/refused-snapshot.ts';

export interface LoadUnderWay {
  /** Name of the file in the snapshot folder. */
  readonly file: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
}

/** A finished load of a snapshot file and its outcome. */
export type LoadRecord = LoadUnderWay & { readonly durationMs: number } & (
    | {
        readonly outcome: 'live';
        readonly snapshotId: string;
        readonly producedAt: string;
        /** Number of organizations. */
        readonly organizations: number;
        /** Number of records in all collections. */
        readonly rows: number;
      }
    | { readonly outcome: 'refused'; readonly reason: RefusalReason; readonly detail: string }
  );

type RefusedLoad = Extract<LoadRecord, { readonly outcome: 'refused' }>;

const MAX_LATEST = 50;

/** The current and the latest loads, and counts since the start of the process. */
export class LoadHistory {
  #loading: LoadUnderWay | undefined;
  #latest: readonly LoadRecord[] = [];
  #live = 0;
  readonly #refusals = new Map<RefusalReason, number>();
  readonly #refused = new Map<string, RefusedLoad>();

  begin(load: LoadUnderWay): void {
    this.#loading = load;
  }

  /** Ends the current load, with or without a record of it. */
  end(): void {
    this.#loading = undefined;
  }

  add(record: LoadRecord): void {
    this.#latest = [record, ...this.#latest].slice(0, MAX_LATEST);
    if (record.outcome === 'live') {
      this.#live++;
      this.#refused.delete(record.file);
    } else {
      this.#refusals.set(record.reason, (this.#refusals.get(record.reason) ?? 0) + 1);
      this.#refused.set(record.file, record);
    }
  }

  /** Drops the refusal of a file that is gone. */
  forget(file: string): void {
    this.#refused.delete(file);
  }

  get loading(): LoadUnderWay | undefined {
    return this.#loading;
  }

  /** The last 50 finished loads, latest first. */
  get latest(): readonly LoadRecord[] {
    return this.#latest;
  }

  /** Number of loads that went live. */
  get live(): number {
    return this.#live;
  }

  /** Number of refused loads, by reason. */
  get refusals(): ReadonlyMap<RefusalReason, number> {
    return this.#refusals;
  }

  /** The refusals of the files that are in the folder now. */
  get refused(): readonly RefusedLoad[] {
    return [...this.#refused.values()];
  }
}
