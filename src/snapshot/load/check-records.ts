import { SESSIONS } from '../format/layout.ts';
import { isBefore, type Place, placeOf } from '../format/list-order.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import { recordDigest, sumText } from '../format/schema.ts';
import { checkForm, divideRecords } from './collection-loader.ts';
import type { RecordForm } from './record-form.ts';
import type { Run } from './run-reader.ts';

/**
 * Checks the records of a loaded run: their form, if one is given, the sum of their digests, and their order. Those of
 * sessions are in the order of their events, which the load checks.
 * @param isParsed whether they were checked before: only their places beside other runs are left to check
 * @param before place of the record before the run
 * @returns the place of its last record
 * @throws RefusedSnapshot
 */
export function checkRecords(
  run: Run,
  form?: RecordForm,
  isParsed = false,
  before?: Place,
): Place | undefined {
  const { layout, entry, records } = run;
  const { offsets } = divideRecords(run);
  let last = before;
  let sum = 0n;
  const lastRow = entry.recordCount - 1;
  for (let i = 0; i <= lastRow; i++) {
    if (isParsed && i > 0 && i < lastRow) continue;
    const [start, end] = [offsets[i], offsets[i + 1] - 1];
    const record = records.toString('utf8', start, end);
    if (!isParsed) {
      if (form !== undefined) checkForm(form, run, i, start, end);
      sum += recordDigest(layout.name, run.valuesAt(i), record);
    }
    if (layout === SESSIONS) continue;
    const place = placeOf(layout, record);
    if (last !== undefined && !isBefore(layout, last, place))
      throw inconsistent(`record ${entry.firstRow + i} of ${layout.table} is out of order`);
    last = place;
  }
  if (isParsed || sumText(sum) === entry.recordsSum) return last;
  throw inconsistent(
    `the records of ${layout.table} at row ${entry.firstRow} do not have the records_sum that "runs" declares`,
  );
}
