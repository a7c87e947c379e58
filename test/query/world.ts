import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../../scripts/sample/random.ts';
import type { Json } from '../../src/contract/field.ts';
import type { CollectionName } from '../../src/contract/operations.ts';
import { buildSnapshot } from '../../src/snapshot/build/build-snapshot.ts';
import { readSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { OrganizationStore } from '../../src/store/organization-store.ts';
import { asImported } from './random-record.ts';
import { type Organization, randomIdPools, randomOrganization } from './records.ts';

const COLLECTIONS: readonly CollectionName[] = ['events', 'sessions', 'tickets', 'orders', 'offers'];

/** Organizations of all sizes down to empty that share many ids. `size`: approximate number of events of the largest. */
export function randomOrganizations(random: Random, size: number): Organization[] {
  const pools = randomIdPools(random, size);
  return [
    randomOrganization(random, 'large', pools, 0.95),
    randomOrganization(random, 'Middling', pools, 0.4),
    randomOrganization(random, 'small', pools, 0.04),
    randomOrganization(random, 'void', pools, 0),
  ];
}

/** Organization stores by id, made by the import, the builder and the loader. */
export async function loadStores(
  random: Random,
  organizations: readonly Organization[],
): Promise<ReadonlyMap<string, OrganizationStore>> {
  const folder = mkdtempSync(join(tmpdir(), 'foyer-world-'));
  try {
    const output = join(folder, 'world.sqlite');
    await buildWorld(random, organizations, output);
    const snapshot = readSnapshot(output);
    return new Map(
      snapshot.organizations.map((image) => [image.organizationId, new OrganizationStore(image, snapshot)]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Builds a snapshot of organizations. */
export async function buildWorld(
  random: Random,
  organizations: readonly Organization[],
  output: string,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'foyer-import-'));
  try {
    const write = (name: string, lines: readonly string[]) => {
      writeFileSync(join(folder, `${name}.ndjson`), lines.map((line) => `${line}\n`).join(''));
    };
    write(
      'organizations',
      organizations.map(({ organizationId }) => JSON.stringify({ organizationId })),
    );
    for (const name of COLLECTIONS) write(name, shuffled(random, importLines(random, organizations, name)));
    await buildSnapshot({ input: folder, output, skipInvalid: false, producedAt: new Date(0) });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function importLines(
  random: Random,
  organizations: readonly Organization[],
  collection: CollectionName,
): string[] {
  return organizations.flatMap(({ organizationId, [collection]: entries }) =>
    entries.map(({ record, imported }) => {
      const line = JSON.parse(JSON.stringify({ organizationId, ...record, ...imported })) as Json;
      return JSON.stringify(asImported(random, line));
    }),
  );
}

function shuffled<T>(random: Random, values: readonly T[]): T[] {
  const keyed = values.map((value) => ({ value, at: random.uint32() }));
  return keyed.sort((a, b) => a.at - b.at).map(({ value }) => value);
}
