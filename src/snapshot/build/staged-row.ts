import type { CollectionLayout, ColumnLayout, ImportedRecord } from '../format/layout.ts';
import { beginsRun } from '../format/run.ts';
import type { ReadRecord } from './record-reader.ts';

/** A record between import and snapshot: the values of a row of a staging table, in the order of its columns. */
export type StagedRow = readonly (string | number | bigint)[];

/** @param line of the record in the import file */
export function stagedRow(layout: CollectionLayout, line: number, record: ReadRecord): StagedRow {
  return [
    line,
    record.organization,
    record.orderedBy,
    sortKey(record.id),
    beginsRun(record.id) ? 1 : 0,
    ...layout.columns.map((column) => columnValue(column, record)),
    record.json,
  ];
}

/** Returns the value of a column for one record: an element of the JSON array that the column of a run is. */
function columnValue(column: ColumnLayout, record: ImportedRecord): string {
  switch (column.holds) {
    case 'text': {
      const text = column.of(record);
      return JSON.stringify(text.isWellFormed() ? text : '');
    }
    case 'instant':
      return String(column.of(record));
    case 'list': {
      // Text with half of a surrogate pair is served, but no request can name it.
      const texts = column.of(record).filter((text) => text.isWellFormed());
      return JSON.stringify([...new Set(texts)]);
    }
  }
}

/**
 * Returns a text whose order by UTF-8 bytes, which is SQLite's, is the order of ids by UTF-16 code unit.
 *
 * The two orders differ for characters beyond U+FFFF: their surrogates are below U+E000, their UTF-8 is above all
 * others. So each surrogate becomes a character of its own, and the characters behind it make room:
 *
 *     D800 … DFFF  →  U+E000  … U+E7FF
 *     E000 … FFFF  →  U+10000 … U+11FFF
 */
export function sortKey(id: string): string {
  return id.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCodePoint(code + (code < 0xe000 ? 0x800 : 0x2000));
  });
}
