import type Database from 'better-sqlite3';
import { linesDigest, type ManifestOrganization } from './manifest.ts';
import { COLLECTIONS } from './layout.ts';
import { damaged } from './refused-snapshot.ts';

/** A record that a snapshot of the history held, and that is gone since another one, which `deletedAt` names. */
export interface Deletion {
  readonly collection: string;
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly deletedAt: string;
}

const SELECT = `
  SELECT collection, id, deleted_at AS deletedAt FROM deletions WHERE organization_id = ? ORDER BY collection, id`;

/**
 * Computes the history digest of an organization, base64url. It covers lines of JSON:
 *
 *     [<since>]
 *     [<collection>,<first_row>,<changes_digest>]   for each run
 *     [<collection>,<id>,<deleted_at>]              for each deletion
 */
export function historyDigest(
  database: Database.Database,
  { organizationId, since, runs }: Pick<ManifestOrganization, 'organizationId' | 'since' | 'runs'>,
): string {
  const changes = COLLECTIONS.flatMap(({ name }) =>
    runs[name].map(({ firstRow, changesDigest }) => [name, firstRow, changesDigest]),
  );
  return linesDigest([
    [since],
    ...changes,
    ...database.prepare<[string], [string, string, string]>(SELECT).raw().iterate(organizationId),
  ]);
}

/**
 * Returns the deletions of an organization, by collection and id.
 * @throws RefusedSnapshot when they, or the digests of the changes, do not match the history digest
 */
export function readDeletions(
  database: Database.Database,
  organization: ManifestOrganization,
): Iterable<Deletion> {
  const { organizationId } = organization;
  if (historyDigest(database, organization) !== organization.historyDigest)
    throw damaged(`the history of organization "${organizationId}" does not match its digest`);
  return database.prepare<[string], Deletion>(SELECT).iterate(organizationId);
}
