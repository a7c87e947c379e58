import { decodeText } from '../../../store/index/texts.ts';
import { type JsonObject, parseObject } from '../../format/json-values.ts';
import { type CollectionLayout, EVENTS, type ListLayout, SESSIONS } from '../../format/layout.ts';
import { type ManifestOrganization, recordsIn, type RunEntry } from '../../format/manifest.ts';
import { asRefusal, type OpenSnapshot, openSnapshot } from '../../format/snapshot-file.ts';
import { type Run, RunReader } from '../../load/run-reader.ts';
import type { LineBlock } from '../import/import-files.ts';

/** The build would not be later than the snapshot that it follows. */
export class NotLater extends Error {
  override readonly name = 'NotLater';
  constructor(producedAt: Date, earlier: string) {
    super(
      `its time, ${earlier}, is not before ${producedAt.toISOString()}: check --as-of and the clock of this machine`,
    );
  }
}

/** Collections whose records depend on each other. Their records in the base are imported again. */
export const IMPORTED_ANEW: readonly CollectionLayout[] = [EVENTS, SESSIONS];

/** The snapshot that a build follows: its base, or the one before a full build. It is only read. */
export class EarlierSnapshot implements Disposable {
  readonly path: string;
  /** Names by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly #snapshot: OpenSnapshot;
  readonly #organizations: ReadonlyMap<string, ManifestOrganization>;
  readonly #reader: RunReader;

  /**
   * @param producedAt the time of the build
   * @throws RefusedSnapshot
   * @throws NotLater
   */
  constructor(path: string, producedAt: Date) {
    this.path = path;
    this.#snapshot = openSnapshot(path);
    const { producedAt: earlier, organizations } = this.#snapshot.manifest;
    if (producedAt.getTime() <= Date.parse(earlier)) {
      this.#snapshot[Symbol.dispose]();
      throw new NotLater(producedAt, earlier);
    }
    this.names = new Map(organizations.map(({ organizationId, name }) => [organizationId, name]));
    this.#organizations = new Map(organizations.map((one) => [one.organizationId, one]));
    this.#reader = new RunReader(this.#snapshot.database);
  }

  /** Returns the runs that the snapshot declares for a list of an organization. */
  runs({ name }: ListLayout, organizationId: string): readonly RunEntry[] {
    return this.#organizations.get(organizationId)?.runs[name] ?? [];
  }

  /**
   * Reads a run and checks its digest.
   * @throws RefusedSnapshot
   */
  read(layout: ListLayout, organizationId: string, entry: RunEntry): Run {
    try {
      const run = this.#reader.read(layout, organizationId, entry);
      run.checkDigest();
      return run;
    } catch (error) {
      throw asRefusal(error);
    }
  }

  /**
   * Reads the records of a run as objects.
   * @throws RefusedSnapshot
   */
  *records(layout: ListLayout, organizationId: string, entry: RunEntry): Generator<JsonObject> {
    const run = this.read(layout, organizationId, entry);
    let start = 0;
    for (const length of run.lengths()) {
      yield parseObject(run.records.toString('utf8', start, start + length)) ?? {};
      start += length + 1;
    }
  }

  /**
   * Reads a collection as blocks of import lines, one for each run. Lines of a base have negative numbers.
   * @throws RefusedSnapshot
   */
  *lines(layout: CollectionLayout): Generator<LineBlock> {
    let line = -this.count([layout]);
    for (const organizationId of this.#organizations.keys()) {
      for (const entry of this.runs(layout, organizationId)) {
        const run = this.read(layout, organizationId, entry);
        yield { bytes: importLines(layout, organizationId, run), firstLine: line };
        line += entry.recordCount;
      }
    }
  }

  /** Returns the number of records in some collections. */
  count(layouts: readonly CollectionLayout[]): number {
    return recordsIn(this.#snapshot.manifest, layouts);
  }

  [Symbol.dispose](): void {
    this.#snapshot[Symbol.dispose]();
  }
}

/** Returns the import lines of a run of events or sessions. */
function importLines(layout: CollectionLayout, organizationId: string, run: Run): Buffer<ArrayBuffer> {
  const owner = `{"organizationId":${JSON.stringify(organizationId)},`;
  const events = layout === SESSIONS ? run.texts('event_id') : undefined;
  const lines: Buffer[] = [];
  let start = 0;
  for (const [i, length] of run.lengths().entries()) {
    const eventId = events && `"eventId":${JSON.stringify(decodeText(events.texts, events.textOf[i]))},`;
    // The fields of the record follow its opening brace.
    lines.push(
      Buffer.from(owner + (eventId ?? '')),
      run.records.subarray(start + 1, start + length),
      NEWLINE,
    );
    start += length + 1;
  }
  const bytes = Buffer.allocUnsafeSlow(lines.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of lines) at += part.copy(bytes, at);
  return bytes;
}

const NEWLINE = Buffer.from('\n');
