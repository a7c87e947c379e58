import { recordsImage } from '../../src/store/records-builder.ts';
import type { RecordsImage } from '../../src/store/records.ts';

/** Packs values as records. */
export function pack(values: readonly unknown[]): RecordsImage {
  return recordsImage(values.map((value) => JSON.stringify(value)));
}
