import type { Instant } from '../../../contract/timestamp.ts';
import type { SnapshotOrigin } from '../../../store/organization-image.ts';
import { type CollectionLayout, EVENTS } from '../../format/layout.ts';
import {
  type Deletion,
  instantOf,
  type ManifestOrganization,
  readDeletions,
  recordsIn,
} from '../../format/manifest.ts';
import { RefusedSnapshot } from '../../format/refused-snapshot.ts';
import { MAX_ANCESTORS } from '../../format/schema.ts';
import { asRefusal, type OpenSnapshot, openSnapshot } from '../../format/snapshot-file.ts';
import { duplicateId, RunReader } from '../../load/run-reader.ts';
import { LINKED, type Staging, withoutSummary } from './staging.ts';
import { EarlierRun } from './earlier-run.ts';

/**
 * The snapshot that a build follows: its base, or the one before a full build. It is only read.
 * All methods throw `RefusedSnapshot` when the file is not sound.
 */
export class EarlierSnapshot implements Disposable {
  readonly path: string;
  readonly isBase: boolean;
  /** In milliseconds since the epoch. */
  readonly producedAt: number;
  readonly #snapshot: OpenSnapshot;
  readonly organizations: ReadonlyMap<string, ManifestOrganization>;
  readonly #reader: RunReader;
  readonly #until: Instant;

  /** @param producedAt the time of the build that follows, if any; the snapshot must be older */
  constructor(path: string, producedAt?: Date, isBase = false) {
    this.path = path;
    this.isBase = isBase;
    this.#snapshot = openSnapshot(path);
    const { producedAt: earlier, organizations } = this.#snapshot.manifest;
    this.producedAt = Date.parse(earlier);
    if (producedAt !== undefined && producedAt.getTime() <= this.producedAt) {
      this.#snapshot[Symbol.dispose]();
      const time = producedAt.toISOString();
      const message = `its time, ${earlier}, is not before ${time}: check --as-of and the clock of this machine`;
      throw new RefusedSnapshot('older', message);
    }
    this.organizations = new Map(organizations.map((one) => [one.organizationId, one]));
    this.#until = instantOf(earlier);
    this.#reader = new RunReader(this.#snapshot.database);
  }

  /** @param organizationIds in the order of the positions */
  *runs(layout: CollectionLayout, organizationIds: readonly string[]): Generator<EarlierRun> {
    for (const run of this.uncheckedRuns(layout, organizationIds)) {
      run.check();
      yield run;
    }
  }

  /** Yields runs whose content may be damaged. Only one that is copied whole, with its digest, needs no check. */
  *uncheckedRuns(layout: CollectionLayout, organizationIds: readonly string[]): Generator<EarlierRun> {
    const { hasCanonicalRuns: isCanonical } = this.#snapshot.manifest;
    const until = this.#until;
    try {
      for (const [organization, organizationId] of organizationIds.entries()) {
        const { runs, since = '' } = this.organizations.get(organizationId) ?? {};
        for (const entry of runs?.[layout.name] ?? []) {
          const run = this.#reader.read(layout, organizationId, entry);
          yield new EarlierRun(organization, run, { isCanonical, since, until });
        }
      }
    } catch (error) {
      throw asRefusal(error);
    }
  }

  *deletions(organizationId: string): Generator<Deletion> {
    const organization = this.organizations.get(organizationId);
    if (organization !== undefined) yield* readDeletions(this.#snapshot.database, organization, this.#until);
  }

  /**
   * Stages the events or sessions that stay unless the import names them, once the ids of its lines are known. The
   * records of other collections are merged.
   */
  stage(layout: CollectionLayout, { ids, tables, organizationIds, staying }: Staging): void {
    if (!LINKED.includes(layout) || !staying.includes(true)) return;
    let line = 0;
    for (const run of this.runs(layout, organizationIds)) {
      const { organization } = run;
      if (!staying[organization]) continue;
      for (let row = 0; row < run.count; row++) {
        line++;
        const { instant, id } = run.placeAt(row);
        if (!ids.addOfBase(layout.name, organization, id, line, instant)) {
          if (ids.get(layout.name, organization, id) === 'base') throw duplicateId(layout, id);
          continue;
        }
        const json = layout === EVENTS ? withoutSummary(run.jsonAt(row)) : run.jsonAt(row);
        const [beginsRun, values] = [run.beginsRun(row), run.valuesAt(row)];
        tables.add(layout, 'base', line, { organization, instant, id, beginsRun, values, json });
      }
    }
  }

  /**
   * Returns the snapshots from which a later one descends, earliest first.
   * @param since earlier ones are left out; milliseconds since the epoch
   */
  lineage(since: number): readonly SnapshotOrigin[] {
    const { ancestors, snapshotId, producedAt } = this.#snapshot.manifest;
    return [...ancestors, { snapshotId, producedAt }]
      .filter((one) => Date.parse(one.producedAt) >= since)
      .slice(-MAX_ANCESTORS);
  }

  get count(): number {
    return recordsIn(this.#snapshot.manifest);
  }

  [Symbol.dispose](): void {
    this.#snapshot[Symbol.dispose]();
  }
}
