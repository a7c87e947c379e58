import { COMMA } from '../store/records.ts';
import type { RecordsImage } from '../store/records.ts';
import type { Bytes, Row } from '../store/shared.ts';
import { SEPARATOR } from './format.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

/**
 * Calls `digest` with the records `from … to` as the digest has them, where they will be served from: all that differs
 * is what stands between them, which is put back after that.
 * @throws RefusedSnapshot when one of them is no UTF-8, so that the digest would not tell where it ends
 */
export function digestRecords(
  { bytes, offsets }: RecordsImage,
  from: Row,
  to: Row,
  digest: (values: Bytes) => void,
): void {
  const values = Buffer.from(bytes.buffer, offsets[from], offsets[to] - 1 - offsets[from]);
  if (values.includes(SEPARATOR)) throw new RefusedSnapshot('inconsistent', 'a record is not UTF-8');
  for (let row = from + 1; row < to; row++) bytes[offsets[row] - 1] = SEPARATOR;
  digest(values);
  for (let row = from + 1; row < to; row++) bytes[offsets[row] - 1] = COMMA;
}
