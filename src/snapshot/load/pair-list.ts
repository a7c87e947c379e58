import type { CollectionLayout } from '../format/layout.ts';
import type { DeclaredList } from '../format/manifest.ts';
import type { OpenSnapshot } from '../format/open-snapshot.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import { lowerBound } from '../../store/index/row-sets.ts';
import type { Row, Uint32s } from '../../store/memory/shared-arrays.ts';

/**
 * Where the records of a list are in a pair of files. Rows count from 0 in the list.
 *
 *     whole file   a b c d e f      of which b and e leave: they are in the changes, too, or deleted
 *     changes          B G
 *     list         a c B G d f
 */
export class PairList {
  /** The list in the whole file, and in all. */
  readonly whole: DeclaredList;
  readonly declared: DeclaredList;
  /** Rows of the whole file that leave, ascending. */
  readonly leaving: Uint32s;
  /** Rows of the list that are in the changes, ascending. */
  readonly changed: Uint32s;

  /** @throws RefusedSnapshot when the files do not make the declared list */
  constructor(
    { whole: { database }, changes }: OpenSnapshot,
    { name, idColumn }: CollectionLayout,
    organizationId: string,
    whole: DeclaredList,
    declared: DeclaredList,
  ) {
    this.whole = whole;
    this.declared = declared;
    const changed: Row[] = [];
    const leaving = new Set<Row>();
    if (changes !== undefined) {
      const find = database.prepare<[string, string], Row>(
        `SELECT row FROM ${name} WHERE organization_id = ? AND ${idColumn} = ?`,
      );
      find.pluck();
      const leave = (id: string) => {
        const row = find.get(organizationId, id);
        if (row !== undefined) leaving.add(row - whole.firstRow);
      };
      const { firstRow, recordCount, rowCount, longestRow } = declared;
      // The plus sign keeps SQLite from an index.
      const rows = changes.database.prepare<[Row, Row, number, string, number], [Row, string]>(
        `SELECT row, ${idColumn} FROM ${name} WHERE row >= ? AND row < ? AND octet_length(${idColumn}) <= ?
           AND +organization_id = ? ORDER BY row LIMIT ?`,
      );
      const range = [firstRow, firstRow + recordCount, longestRow, organizationId, rowCount] as const;
      for (const [row, id] of rows.raw().iterate(...range)) {
        changed.push(row - firstRow);
        leave(id);
      }
      const deleted = changes.database.prepare<[string, string], string>(
        'SELECT id FROM deletions WHERE organization_id = ? AND collection = ?',
      );
      for (const id of deleted.pluck().iterate(organizationId, name)) leave(id);
    }
    this.changed = Uint32Array.from(changed);
    this.leaving = Uint32Array.from(leaving).sort();
    const found = whole.recordCount - leaving.size + changed.length;
    if (found !== declared.recordCount)
      throw inconsistent(
        `whole file and changes have ${found} of the ${declared.recordCount} ${name} of "${organizationId}"`,
      );
  }

  /** Returns the row of a record of the whole file that stays. */
  rowOf(wholeRow: Row): Row {
    return withGaps(this.changed, withoutGaps(this.leaving, wholeRow));
  }

  /** Returns the row of the whole file for one that is not in the changes. */
  wholeRowOf(row: Row): Row {
    return withGaps(this.leaving, withoutGaps(this.changed, row));
  }

  isChanged(row: Row): boolean {
    return this.changed[lowerBound(this.changed, row)] === row;
  }
}

/** Returns the position of a row among those that are no gaps. */
function withoutGaps(gaps: Uint32s, row: Row): number {
  return row - lowerBound(gaps, row);
}

/** Returns the row at a position among those that are no gaps. */
function withGaps(gaps: Uint32s, position: number): Row {
  let [low, high] = [0, gaps.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (gaps[middle] - middle <= position) low = middle + 1;
    else high = middle;
  }
  return position + low;
}
