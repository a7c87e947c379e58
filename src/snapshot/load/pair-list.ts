import type Database from 'better-sqlite3';
import type { CollectionLayout } from '../format/layout.ts';
import type { DeclaredList } from '../format/manifest.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import { hasRow, lowerBound } from '../../store/index/row-sets.ts';
import type { Row, Uint32s } from '../../store/memory/shared-arrays.ts';

type Statements = ReturnType<typeof pairStatements>;

/** Prepares the statements that find the records of a collection in a whole file and its changes. */
export function pairStatements(
  whole: Database.Database,
  changes: Database.Database,
  { name, idColumn }: CollectionLayout,
) {
  return {
    find: whole
      .prepare<[string, string], Row>(`SELECT row FROM ${name} WHERE organization_id = ? AND ${idColumn} = ?`)
      .pluck(),
    // In a damaged tree, a range may have any number of rows. The plus sign keeps SQLite from an index.
    changed: changes
      .prepare<[Row, Row, number, number, string], [Row, string]>(
        `SELECT row, ${idColumn} FROM (SELECT row AS found FROM ${name} WHERE row >= ? AND row < ? LIMIT ?)
           CROSS JOIN ${name} ON row = found WHERE octet_length(${idColumn}) <= ? AND +organization_id = ?`,
      )
      .raw(),
    deleted: changes
      .prepare<[string], string>(
        `SELECT id FROM deletions WHERE organization_id = ? AND collection = '${name}'`,
      )
      .pluck(),
  };
}

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

  /**
   * @param statements undefined if the file of changes has none of the list
   * @throws RefusedSnapshot when the files do not make the declared list
   */
  constructor(
    organizationId: string,
    whole: DeclaredList,
    declared: DeclaredList,
    statements: Statements | undefined,
  ) {
    this.whole = whole;
    this.declared = declared;
    const changed: Row[] = [];
    const leaving: Row[] = [];
    const leave = (id: string) => {
      const row = statements?.find.get(organizationId, id);
      if (row !== undefined) leaving.push(row - whole.firstRow);
    };
    const { firstRow, recordCount, rowCount, longestRow } = declared;
    const range = [firstRow, firstRow + recordCount, rowCount, longestRow, organizationId] as const;
    for (const [row, id] of statements?.changed.iterate(...range) ?? []) {
      changed.push(row - firstRow);
      leave(id);
    }
    for (const id of statements?.deleted.iterate(organizationId) ?? []) leave(id);
    const isAscending = changed.every((row, i) => i === 0 || row > changed[i - 1]);
    if (statements !== undefined && (changed.length !== rowCount || !isAscending))
      throw inconsistent(
        `a list of "${organizationId}" has ${changed.length} of the ${rowCount} rows that "lists" declares`,
      );
    this.changed = Uint32Array.from(changed);
    // A record may be both deleted and put again.
    this.leaving = Uint32Array.from(leaving)
      .sort()
      .filter((row, i, rows) => i === 0 || row > rows[i - 1]);
    const found = whole.recordCount - this.leaving.length + changed.length;
    if (found !== declared.recordCount)
      throw inconsistent(
        `whole file and changes have ${found} of the ${declared.recordCount} records of a list of "${organizationId}"`,
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
    return hasRow(this.changed, row);
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
