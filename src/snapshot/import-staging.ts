import { join } from 'node:path';
import type { CollectionName } from '../contract/operations.ts';
import { importFile, readBlocks } from './import-lines.ts';
import type { FieldProblem } from './import-schema.ts';
import { ImportThreads } from './import-threads.ts';
import type { CollectionLayout } from './layout.ts';
import type { Rejections } from './rejections.ts';
import { StagedRows } from './staged-rows.ts';
import type { Admit } from './staged-rows.ts';

/** Brings the files of an import folder into staged rows, and collects what is wrong with them. */
export class ImportStaging {
  /** How often fields were dropped that the specification does not have, by file and field. */
  readonly dropped = new Map<string, number>();
  readonly #input: string;
  readonly #folder: string;
  readonly #rejections: Rejections;
  readonly #onProgress: (collection: CollectionName, records: number) => void;
  readonly #threads: ImportThreads;
  readonly #staged: StagedRows[] = [];

  /** `folder`: where the staged rows are kept. */
  constructor(
    input: string,
    folder: string,
    organizations: ReadonlySet<string>,
    rejections: Rejections,
    onProgress: (collection: CollectionName, records: number) => void,
  ) {
    this.#input = input;
    this.#folder = folder;
    this.#rejections = rejections;
    this.#onProgress = onProgress;
    this.#threads = new ImportThreads(organizations);
  }

  async stage(layout: CollectionLayout, admit?: Admit): Promise<StagedRows> {
    const staged = new StagedRows(join(this.#folder, `${layout.name}.staged`), layout);
    this.#staged.push(staged);
    const file = importFile(this.#input, layout.name);
    if (file === undefined) return staged;
    let records = 0;
    for await (const { rows, bad, dropped } of this.#threads.read(
      layout.name,
      readBlocks(this.#input, file),
    )) {
      for (const { line, text, field, reason } of bad)
        this.#rejections.add({ file, line, field, reason }, text);
      for (const [field, count] of dropped) {
        const name = `${file}: ${field}`;
        this.dropped.set(name, (this.dropped.get(name) ?? 0) + count);
      }
      staged.add(rows, admit, (organizationId, fields, line, problem) => {
        this.#rejections.add({ file, line, ...problem }, importedText(organizationId, fields, staged));
      });
      records += rows.count;
      this.#onProgress(layout.name, records);
    }
    staged.flush();
    return staged;
  }

  /** Rejects a row that was staged already. */
  refuse(staged: StagedRows, organizationId: string, key: number, problem: FieldProblem): void {
    const organization = staged.organization(organizationId);
    const file = importFile(this.#input, staged.layout.name) ?? staged.layout.name;
    const text = importedText(organizationId, staged.read(organization, key), staged);
    this.#rejections.add({ file, line: organization.lineOf(key), ...problem }, text);
  }

  async close(): Promise<void> {
    await this.#threads.close();
    for (const staged of this.#staged) staged.close();
  }
}

/** A staged record as a line of the import. */
function importedText(organizationId: string, fields: readonly Buffer[], { fieldNames }: StagedRows): string {
  const record = fields[fieldNames.indexOf('record')].toString();
  return `${JSON.stringify({ organizationId }).slice(0, -1)},${record.slice(1)}`;
}
