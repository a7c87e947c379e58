import type { Random } from '../../../scripts/sample/random.ts';
import type { Json } from '../../../src/contract/field.ts';
import type { CollectionName } from '../../../src/contract/operations.ts';
import { byCollection } from '../../../src/snapshot/format/layout.ts';
import type { OrganizationStore } from '../../../src/store/registry/store-view.ts';
import { storeOf } from '../empty-image.ts';
import { build, writeImport } from '../import-folder.ts';
import { shuffled } from '../random.ts';
import { readSnapshot } from '../read-snapshot.ts';
import { withFolder } from '../temporary-folder.ts';
import { asImported } from './random-record.ts';
import { type Organization, randomIdPools, randomOrganization } from './random-organization.ts';

/**
 * Organizations of all sizes down to empty that share many ids. `size`: approximate number of events of the largest.
 */
export function randomOrganizations(random: Random, size: number): Organization[] {
  const pools = randomIdPools(random, size);
  return [
    randomOrganization(random, 'large', pools, 0.95),
    randomOrganization(random, 'Middling', pools, 0.4),
    randomOrganization(random, 'small', pools, 0.04),
    randomOrganization(random, 'void', pools, 0),
  ];
}

/** Returns the stores of organizations by id, made by the import, the builder and the loader. */
export function loadStores(
  random: Random,
  organizations: readonly Organization[],
): Promise<ReadonlyMap<string, OrganizationStore>> {
  return withFolder(async (inFolder) => {
    const output = inFolder('world.sqlite');
    await buildWorld(random, organizations, output);
    return new Map(readSnapshot(output).organizations.map((image) => [image.organizationId, storeOf(image)]));
  });
}

/** Builds a snapshot of organizations. */
export async function buildWorld(
  random: Random,
  organizations: readonly Organization[],
  output: string,
): Promise<void> {
  const linesOf = (collection: CollectionName) =>
    organizations.flatMap(({ organizationId, [collection]: entries }) =>
      entries.map(({ record, imported }) => {
        const line = JSON.parse(JSON.stringify({ organizationId, ...record, ...imported })) as Json;
        return JSON.stringify(asImported(random, line));
      }),
    );
  await withFolder(async (inFolder) => {
    writeImport(inFolder('.'), {
      organizations: organizations.map(({ organizationId }) => ({ organizationId })),
      ...byCollection(({ name }) => shuffled(random, linesOf(name))),
    });
    await build(inFolder('.'), output);
  });
}
