import { join } from 'node:path';
import type { CollectionName } from '../contract/operations.ts';
import { importFile, readBlocks } from './import-lines.ts';
import type { FieldProblem } from './import-schema.ts';
import { ImportThreads } from './import-threads.ts';
import type { BadLine } from './import-worker.ts';
import { OFFERS, SESSIONS } from './layout.ts';
import type { CollectionLayout } from './layout.ts';
import { unpackList } from './packed-rows.ts';
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
  readonly #staged = new Set<StagedRows>();

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
    this.#staged.add(staged);
    const file = importFile(this.#input, layout.name);
    if (file === undefined) return staged;
    let records = 0;
    for await (const { rows, bad, dropped } of this.#threads.read(
      layout.name,
      readBlocks(this.#input, file),
    )) {
      const refused: BadLine[] = [...bad];
      for (const [field, count] of dropped) {
        const name = `${file}: ${field}`;
        this.dropped.set(name, (this.dropped.get(name) ?? 0) + count);
      }
      staged.add(rows, admit, (organizationId, fields, line, problem) => {
        refused.push({ line, ...problem, text: importedText(organizationId, fields, staged) });
      });
      refused.sort((a, b) => a.line - b.line);
      for (const { line, text, field, reason } of refused)
        this.#rejections.add({ file, line, field, reason }, text);
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

  /** Lets go of rows that are written. */
  release(staged: StagedRows): void {
    staged.close();
    this.#staged.delete(staged);
  }

  async close(): Promise<void> {
    await this.#threads.close();
    for (const staged of this.#staged) this.release(staged);
  }
}

/** A staged record as a line of the import. */
function importedText(organizationId: string, fields: readonly Buffer[], staged: StagedRows): string {
  const field = (name: string) => fields[staged.fieldNames.indexOf(name)];
  const aside = {
    organizationId,
    ...(staged.layout === SESSIONS && { eventId: field('event_id').toString() }),
    ...(staged.layout === OFFERS && {
      heldByEventIds: unpackList(field('offer_events')).map((id) => Buffer.from(id).toString()),
    }),
  };
  return `${JSON.stringify(aside).slice(0, -1)},${field('record').toString().slice(1)}`;
}
