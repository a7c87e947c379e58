import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkSuccession } from './gate.ts';
import type { Predecessor } from './gate.ts';
import { inspectSnapshot } from './inspect-snapshot.ts';
import type { Manifest } from './format/manifest.ts';
import { declaredCounts } from './record-counts.ts';
import { RefusedSnapshot } from './format/refused-snapshot.ts';
import { isSnapshotName } from './snapshot-name.ts';

/**
 * Whether a replica that serves what is in `folder` would take a snapshot there under `name`. A file that cannot be
 * read as a snapshot is compared with nothing: in the place of the new one it is about to be mended, and beside it
 * it is not live.
 * @throws RefusedSnapshot with the reason that the replica would have
 */
export function checkPlace(next: Manifest, folder: string, name: string): void {
  for (const file of readdirSync(folder).filter(isSnapshotName)) {
    const present = manifestOf(join(folder, file));
    if (present === undefined) continue;
    if (file === name) checkSuccession(next, predecessorsIn(present));
    else checkApart(next, present, file);
  }
}

function manifestOf(path: string): Manifest | undefined {
  try {
    return inspectSnapshot(path);
  } catch (error) {
    if (error instanceof RefusedSnapshot) return undefined;
    throw error;
  }
}

function predecessorsIn({ producedAt, organizations }: Manifest): Map<string, Predecessor> {
  return new Map(
    organizations.map((organization) => [
      organization.organizationId,
      { producedAt, counts: declaredCounts(organization) },
    ]),
  );
}

function checkApart(next: Manifest, other: Manifest, file: string): void {
  const taken = new Set(other.organizations.map(({ organizationId }) => organizationId));
  const both = next.organizations.find(({ organizationId }) => taken.has(organizationId));
  if (both === undefined) return;
  throw new RefusedSnapshot(
    'conflict',
    `organization "${both.organizationId}" is published in ${file} already; ` +
      'an organization stands in one file alone: take it out of one of them, or publish under that name',
  );
}
