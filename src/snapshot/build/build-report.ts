import type { CollectionName } from '../../contract/operations.ts';
import type { FieldProblem } from './import-schema.ts';

/** A line of the import that cannot become a record. */
export interface Rejection extends FieldProblem {
  /** Name of the file in the import folder. */
  readonly file: string;
  readonly line: number;
}

/** `tickets.ndjson:17: issuedAt must be …` */
export function describeRejection({ file, line, field, reason }: Rejection): string {
  return `${file}:${line}: ${field === '' ? reason : `${field} ${reason}`}`;
}

export interface BuildReport {
  readonly snapshotId: string;
  readonly producedAt: string;
  readonly organizations: number;
  readonly records: Readonly<Record<CollectionName, number>>;
  /** How often fields were dropped that the specification does not have, by file and field. */
  readonly dropped: ReadonlyMap<string, number>;
  /** Lines left out; always 0 unless bad lines are skipped. */
  readonly rejected: number;
  readonly fileBytes: number;
}

/** The import holds bad lines, and no snapshot was made of it. */
export class ImportRejected extends Error {
  override readonly name = 'ImportRejected';
  readonly first: readonly Rejection[];
  readonly total: number;

  constructor(first: readonly Rejection[], total: number) {
    super(`the import holds ${total} bad ${total === 1 ? 'line' : 'lines'}`);
    this.first = first;
    this.total = total;
  }
}
