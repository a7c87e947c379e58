import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatCredential } from '../../src/keys/credential.ts';
import type { KeyRing } from '../../src/keys/key-ring.ts';
import { KeysFile, readKeyRing } from '../../src/keys/keys-file.ts';
import { buildSnapshot } from '../../src/snapshot/build/build-snapshot.ts';
import { readSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { TestApi } from '../api/test-api.ts';
import { type Plant, plantedRecords } from './planted.ts';

const PRODUCED_AT = new Date('2026-11-21T04:00:00Z');

export interface KeyFor {
  readonly organizationId: string;
  readonly secret: string;
}

/** A snapshot of the records planted for some organizations. */
export async function plantedSnapshot(plants: readonly Plant[]): Promise<SnapshotImage> {
  const folder = mkdtempSync(join(tmpdir(), 'foyer-isolation-'));
  try {
    const lines = new Map<string, string[]>();
    const add = (file: string, line: object) => {
      lines.set(file, [...(lines.get(file) ?? []), `${JSON.stringify(line)}\n`]);
    };
    for (const plant of plants) {
      const { organizationId } = plant;
      add('organizations', { organizationId, name: `${plant.word}_name` });
      for (const [file, records] of Object.entries(plantedRecords(plant))) {
        for (const record of records) add(file, { organizationId, ...record });
      }
    }
    for (const [file, all] of lines) writeFileSync(join(folder, `${file}.ndjson`), all.join(''));
    const output = join(folder, 'planted.sqlite');
    await buildSnapshot({ input: folder, output, skipInvalid: false, producedAt: PRODUCED_AT });
    return readSnapshot(output);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A key for each organization, and the ring that knows them. */
export function makeKeys(plants: readonly Plant[]): { ring: KeyRing; keys: ReadonlyMap<Plant, KeyFor> } {
  const folder = mkdtempSync(join(tmpdir(), 'foyer-isolation-keys-'));
  try {
    const path = join(folder, 'keys.sqlite');
    const file = new KeysFile(path);
    const keys = new Map(
      plants.map((plant) => [plant, file.create(plant.organizationId, plant.word, PRODUCED_AT)]),
    );
    return { ring: readKeyRing(path), keys };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the app over a snapshot. Its links begin with the same address on any port, so that the responses of two apps are comparable. */
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
