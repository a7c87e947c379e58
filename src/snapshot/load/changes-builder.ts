import type { Instant } from '../../contract/timestamp.ts';
import { type InstantImage, instantOrder } from '../../store/index/instant-index.ts';
import { sharedInt64s, sharedUint32s } from '../../store/memory/shared-arrays.ts';
import type { Run } from './run-reader.ts';

/** The times of the changes that copies may lack: after the first one, up to the last one. */
export interface HistoryRange {
  readonly after: Instant;
  readonly until: Instant;
}

/** Collects the rows of a collection that changed in a range of time. */
export class ChangesBuilder {
  readonly #range: HistoryRange;
  readonly #rows: number[] = [];
  readonly #instants: Instant[] = [];

  constructor(range: HistoryRange) {
    this.#range = range;
  }

  /** @throws RefusedSnapshot as `Run.changes` */
  add(run: Run): void {
    const { after, until } = this.#range;
    const changes = run.changes(until);
    if (changes === undefined || changes.times.every(({ instant }) => instant <= after)) return;
    for (const [i, position] of changes.of.entries()) {
      const { instant } = changes.times[position];
      if (instant <= after) continue;
      this.#rows.push(run.entry.firstRow + i);
      this.#instants.push(instant);
    }
  }

  finish(): InstantImage {
    const order = instantOrder(BigInt64Array.from(this.#instants));
    const [sorted, rows] = [sharedInt64s(order.length), sharedUint32s(order.length)];
    for (const [i, position] of order.entries()) {
      sorted[i] = this.#instants[position];
      rows[i] = this.#rows[position];
    }
    return { sorted, rows };
  }
}
