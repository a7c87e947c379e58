import type { CollectionName } from '../../src/contract/operations.ts';
import { formatCredential } from '../../src/keys/credential.ts';
import type { KeyRing } from '../../src/keys/key-ring.ts';
import { KeysFile, readKeyRing } from '../../src/keys/keys-file.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { builtFrom, PRODUCED_AT } from '../support/import-folder.ts';
import { withFolder } from '../support/temporary-folder.ts';
import { TestApi } from '../support/test-api.ts';
import { type Plant, plantedRecords } from './planted.ts';

export interface KeyFor {
  readonly organizationId: string;
  readonly secret: string;
}

/** Builds a snapshot of the records planted for some organizations. */
export function plantedSnapshot(plants: readonly Plant[]): Promise<SnapshotImage> {
  const records = plants.map((plant) => plantedRecords(plant));
  const ofAll = (collection: CollectionName) =>
    plants.flatMap(({ organizationId }, i) =>
      records[i][collection].map((record) => ({ organizationId, ...record })),
    );
  return withFolder(async (inFolder) => {
    const files = {
      organizations: plants.map(({ organizationId, word }) => ({ organizationId, name: `${word}_name` })),
      events: ofAll('events'),
      sessions: ofAll('sessions'),
      tickets: ofAll('tickets'),
      orders: ofAll('orders'),
      offers: ofAll('offers'),
    };
    const { image } = await builtFrom(inFolder('import'), files);
    return image;
  });
}

/** Creates a key for each organization, and their key ring. */
export function makeKeys(
  plants: readonly Plant[],
): Promise<{ ring: KeyRing; keys: ReadonlyMap<Plant, KeyFor> }> {
  return withFolder((inFolder) => {
    const path = inFolder('keys.sqlite');
    const file = new KeysFile(path);
    const keys = new Map(
      plants.map((plant) => [plant, file.create(plant.organizationId, plant.word, PRODUCED_AT)]),
    );
    return { ring: readKeyRing(path), keys };
  });
}

/**
 * Returns the app over a snapshot. Its links begin with the same address on any port, so that the responses of two
 * apps are comparable.
 */
export function startApi(snapshot: SnapshotImage, ring: KeyRing): Promise<TestApi> {
  const stores = new StoreRegistry();
  stores.swap('planted.sqlite', snapshot);
  return TestApi.start({
    stores: () => stores.view,
    keys: () => ring,
    config: { publicBaseUrl: 'https://api.example.org' },
  });
}

export function authorization(key: KeyFor): string {
  return `Bearer ${formatCredential(key)}`;
}
