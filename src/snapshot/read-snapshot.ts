import type { OrganizationImage, SnapshotImage } from '../store/organization-image.ts';
import { ContentFile } from './content-file.ts';
import { readManifest } from './manifest.ts';
import type { Manifest, ManifestOrganization } from './manifest.ts';
import type { OnProgress } from './read-content.ts';
import { readOrganization } from './read-organization.ts';
import { asRefusal } from './snapshot-file.ts';

interface ReadOptions {
  /** Called once with what the snapshot says of itself, before its content is read; throws to refuse it. */
  readonly admit?: (manifest: Manifest) => void;
  /** Called now and then with how many rows of an organization's table were read so far. */
  readonly onProgress?: OnProgress | undefined;
}

/**
 * Reads a snapshot file into shared memory and checks all that it says of itself: header, schema, counts, order,
 * distinct ids, and the digest of every organization over the very bytes that are then served.
 * @throws RefusedSnapshot with the reason
 */
export function readSnapshot(path: string, { admit, onProgress }: ReadOptions = {}): SnapshotImage {
  const organizations: OrganizationImage[] = [];
  const { snapshotId, producedAt } = readOrganizations(path, admit, (file, organization) => {
    organizations.push(readOrganization(file, organization, onProgress));
  });
  return { snapshotId, producedAt, organizations };
}

/**
 * Calls `read` with each organization that a snapshot file declares, in their order.
 *
 * @param admit is called before, with all that it declares, and throws to refuse it
 * @throws RefusedSnapshot with the reason
 */
export function readOrganizations(
  path: string,
  admit: ((manifest: Manifest) => void) | undefined,
  read: (file: ContentFile, organization: ManifestOrganization) => void,
): Manifest {
  const file = new ContentFile(path);
  try {
    const manifest = readManifest(file.database, file.bytes);
    admit?.(manifest);
    for (const organization of manifest.organizations) read(file, organization);
    return manifest;
  } catch (error) {
    throw asRefusal(error);
  } finally {
    file.close();
  }
}
