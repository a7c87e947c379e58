import type Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import { COLLECTION_NAMES } from '../../contract/resources.ts';
import type { Instant } from '../../contract/timestamp.ts';
import { COLLECTIONS } from './layout.ts';
import { linesDigest, type ManifestOrganization, utcInstant } from './manifest.ts';
import { damaged, inconsistent } from './refused-snapshot.ts';

/** A record that a snapshot of the history held, and that is gone since another one, which `deletedAt` names. */
export interface Deletion {
  readonly collection: CollectionName;
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly deletedAt: string;
  readonly instant: Instant;
}

type DeletionRow = readonly [collection: string, id: string, deletedAt: string];

type History = Pick<ManifestOrganization, 'organizationId' | 'since' | 'runs'>;

/**
 * Computes the history digest of an organization, base64url. It covers lines of JSON:
 *
 *     [<since>]
 *     [<collection>,<first_row>,<changes_digest>]   for each run
 *     [<collection>,<id>,<deleted_at>]              for each deletion
 */
export function historyDigest(database: Database.Database, history: History): string {
  const runs = COLLECTIONS.flatMap(({ name }) =>
    history.runs[name].map(({ firstRow, changesDigest }) => [name, firstRow, changesDigest]),
  );
  return linesDigest([[history.since], ...runs], deletionRows(database, history.organizationId));
}

/**
 * Reads the deletions of an organization, by collection and id, after a check of the history digest.
 * @param until time of the snapshot
 * @throws RefusedSnapshot also when one is malformed or later than the snapshot
 */
export function* readDeletions(
  database: Database.Database,
  organization: ManifestOrganization,
  until: Instant,
): Generator<Deletion> {
  if (historyDigest(database, organization) !== organization.historyDigest)
    throw damaged(`the history of organization "${organization.organizationId}" does not match its digest`);
  for (const [name, id, deletedAt] of deletionRows(database, organization.organizationId)) {
    const refused = (problem: string) => inconsistent(`the deletion of "${id}" of ${name} ${problem}`);
    const collection = COLLECTION_NAMES.find((one) => one === name);
    const instant = utcInstant(deletedAt);
    if (collection === undefined) throw refused('is of no collection');
    if (id === '') throw refused('has no id');
    if (instant === undefined || instant > until)
      throw refused(`has the time "${deletedAt}", which is not that of a snapshot up to this one`);
    yield { collection, id, deletedAt, instant };
  }
}

function deletionRows(database: Database.Database, organizationId: string): IterableIterator<DeletionRow> {
  return database
    .prepare<[string], DeletionRow>(
      'SELECT collection, id, deleted_at FROM deletions WHERE organization_id = ? ORDER BY collection, id',
    )
    .raw()
    .iterate(organizationId);
}
