import { recordsImage, type RecordsImage } from '../../src/store/records.ts';

/** Packs values as records. */
export function pack(values: readonly unknown[]): RecordsImage {
  return recordsImage(values, (value) => JSON.stringify(value));
}
