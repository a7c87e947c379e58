import { COMMA } from '../../src/store/record-bytes.ts';
import type { RecordsImage } from '../../src/store/records.ts';

/** Packs values as records: their JSON texts, a comma after each. */
export function pack(values: readonly unknown[]): RecordsImage {
  const texts = values.map((value) => Buffer.from(JSON.stringify(value)));
  const offsets = new Float64Array(values.length + 1);
  texts.forEach(({ length }, row) => {
    offsets[row + 1] = offsets[row] + length + 1;
  });
  const separator = Buffer.from([COMMA]);
  return { bytes: Buffer.concat(texts.flatMap((text) => [text, separator])), offsets };
}
