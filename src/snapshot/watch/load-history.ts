import type { RefusalReason } from '../format/refused-snapshot.ts';

export interface LoadUnderWay {
  /** Name of the file in the snapshot folder. */
  readonly file: string;
  /** When the load began, ISO 8601, UTC. */
  readonly startedAt: string;
}

/** What became of one load of a snapshot file. */
export type LoadRecord = LoadUnderWay & { readonly durationMs: number } & (
    | {
        readonly outcome: 'live';
        readonly snapshotId: string;
        readonly producedAt: string;
        readonly organizations: number;
        /** Records of all its collections. */
        readonly rows: number;
      }
    | { readonly outcome: 'refused'; readonly reason: RefusalReason; readonly detail: string }
  );

const KEPT = 50;

/** The latest loads, latest first, and how many there were since the start. */
export class LoadHistory {
  #latest: readonly LoadRecord[] = [];
  #loading: LoadUnderWay | undefined;
  #live = 0;
  readonly #refusals = new Map<RefusalReason, number>();
  readonly #refused = new Map<string, LoadRecord & { readonly outcome: 'refused' }>();

  begin(load: LoadUnderWay): void {
    this.#loading = load;
  }

  /** The load under way has ended, whatever became of it. */
  end(): void {
    this.#loading = undefined;
  }

  add(record: LoadRecord): void {
    this.#latest = [record, ...this.#latest].slice(0, KEPT);
    if (record.outcome === 'live') {
      this.#live++;
      this.#refused.delete(record.file);
    } else {
      this.#refusals.set(record.reason, (this.#refusals.get(record.reason) ?? 0) + 1);
      this.#refused.set(record.file, record);
    }
  }

  /** A file is gone, and with it what was said of it. */
  forget(file: string): void {
    this.#refused.delete(file);
  }

  /** The load that is under way. */
  get loading(): LoadUnderWay | undefined {
    return this.#loading;
  }

  /** The last 50, latest first. */
  get latest(): readonly LoadRecord[] {
    return this.#latest;
  }

  /** How many loads went live. */
  get live(): number {
    return this.#live;
  }

  /** How many loads were refused, by reason. */
  get refusals(): ReadonlyMap<RefusalReason, number> {
    return this.#refusals;
  }

  /** Of each file that lies in the folder refused: why. */
  get refused(): readonly (LoadRecord & { readonly outcome: 'refused' })[] {
    return [...this.#refused.values()];
  }
}
