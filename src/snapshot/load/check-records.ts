import { SESSIONS } from '../format/layout.ts';
import { isBefore, type Place, placeOf } from '../format/list-order.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import { sumText } from '../format/schema.ts';
import type { Block } from './block.ts';
import type { StoredList } from './collection-loader.ts';
import type { RecordForm } from './record-form.ts';

/**
 * Yields the blocks of a list, and checks the records when they are loaded: their form, if one is given, the sum of their
 * digests, and their order. Those of sessions are in the order of their events, which the load checks.
 * @throws RefusedSnapshot
 */
export function* checkRecords({ layout, declared, blocks }: StoredList, form?: RecordForm): Generator<Block> {
  let last: Place | undefined;
  let sum = 0n;
  for (const block of blocks) {
    yield block;
    for (let i = 0; i < block.count; i++) {
      if (form !== undefined) block.checkForm(form, i);
      sum += block.digestAt(i);
      if (layout === SESSIONS) continue;
      const place = placeOf(layout, block.recordAt(i).toString());
      if (last !== undefined && !isBefore(layout, last, place)) throw block.refused(i, 'is out of order');
      last = place;
    }
  }
  if (sumText(sum) !== declared.recordsSum)
    throw inconsistent(`the records of ${layout.name} do not have the records_sum that "lists" declares`);
}
