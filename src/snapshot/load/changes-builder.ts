import { type Instant, parseTimestamp } from '../../contract/timestamp.ts';
import { type InstantImage, instantOrder } from '../../store/index/instant-index.ts';
import { decodeText } from '../../store/index/texts.ts';
import { sharedInt64s, sharedUint32s } from '../../store/memory/shared-arrays.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import { CHANGED_COLUMN } from '../format/schema.ts';
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

  /** @throws RefusedSnapshot when a time is malformed, or later than the snapshot */
  add(run: Run): void {
    const { after, until } = this.#range;
    const changes = run.changes();
    if (changes === undefined) return;
    const instants = Array.from(changes.texts.ends, (_, i) => {
      const text = decodeText(changes.texts, i);
      const instant = text.endsWith('Z') ? parseTimestamp(text) : undefined;
      if (instant !== undefined && instant <= until) return instant;
      throw inconsistent(
        `column ${CHANGED_COLUMN} of ${run.layout.table} holds "${text}" at row ${run.entry.firstRow}, which is ` +
          'not the time of an earlier snapshot, or of this one',
      );
    });
    if (instants.every((instant) => instant <= after)) return;
    for (const [i, text] of changes.textOf.entries()) {
      if (instants[text] <= after) continue;
      this.#rows.push(run.entry.firstRow + i);
      this.#instants.push(instants[text]);
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
