import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { CollectionName } from '../../src/contract/operations.ts';
import { COLLECTION_NAMES } from '../../src/contract/resources.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { type Change, change, ORGANIZATIONS, World } from '../support/random-history.ts';
import { byDepth } from '../support/depth.ts';
import { build, copiedRecords, PRODUCED_AT, toFile, writeImport } from '../support/import-folder.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { TestApi } from '../support/test-api.ts';
import { withFolder } from '../support/temporary-folder.ts';
import { WALKED } from '../support/empty-image.ts';

type Organization = (typeof ORGANIZATIONS)[number];
type Records = ReadonlyMap<string, string>;

/** A step of a history. Numbers select among what there is. */
type Step =
  | {
      readonly does: 'build';
      readonly from: 'base' | 'previous' | 'nothing';
      readonly changes: readonly Change[];
      readonly keep: number;
      readonly without: Organization | undefined;
    }
  | { readonly does: 'load'; readonly replica: number; readonly back: number }
  | { readonly does: 'sync'; readonly replica: number; readonly client: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('build'),
      from: fc.constantFrom('base', 'base', 'previous', 'previous', 'nothing'),
      changes: fc.array(change, { maxLength: 12 }),
      keep: fc.constantFrom(1, 3, 100, 100),
      without: fc.constantFrom(undefined, undefined, undefined, 'south'),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('load'),
      replica: fc.nat(1),
      back: fc.constantFrom(0, 0, 0, 0, 1, 2),
    }),
  },
  { weight: 12, arbitrary: fc.record({ does: fc.constant('sync'), replica: fc.nat(1), client: fc.nat(5) }) },
);

/** A snapshot of a history, with its content as the oracle knows it. */
interface Snapshot {
  readonly path: string;
  readonly image: SnapshotImage;
  readonly at: number;
  readonly earlier: Snapshot | undefined;
  /** Those whose changes it knows, the latest first. */
  readonly ancestors: readonly Snapshot[];
  readonly records: ReadonlyMap<string, Records>;
  /** Time of the first snapshot of the lineage with the organization. */
  readonly since: ReadonlyMap<string, number>;
  /** The world at its time, for a base. */
  readonly world: World;
}

interface Client {
  readonly organization: Organization;
  readonly collections: readonly CollectionName[] | undefined;
  records: Map<string, string>;
  token: string | undefined;
  /** The snapshot of the token. */
  snapshot: Snapshot | undefined;
}

interface Line {
  readonly change: 'reset' | 'delete' | 'put' | 'end';
  readonly collection: CollectionName;
  readonly id: string;
  readonly next: string;
  readonly dataAsOf: string;
  readonly counts: Readonly<Record<string, number>>;
}

const keyOf = (collection: string, id: string) => JSON.stringify([collection, id]);

/** Returns what a copy of an organization holds: records by collection and id, those of sessions with their events. */
function recordsIn({ organizations }: SnapshotImage, organizationId: string): Records | undefined {
  const found = organizations.find((one) => one.organizationId === organizationId);
  if (found === undefined) return undefined;
  return new Map(
    copiedRecords(found).map(({ collection, id, event_id: eventId, body }) => [
      keyOf(collection, id),
      eventId === null ? body : `${eventId} ${body}`,
    ]),
  );
}

/** A history of snapshots, two replicas that load some of them, and clients that keep copies. */
class Model {
  readonly #folder: string;
  readonly #snapshots: Snapshot[] = [];
  readonly #replicas: readonly { readonly registry: StoreRegistry; readonly api: TestApi; served: number }[];
  readonly #live: (Snapshot | undefined)[] = [undefined, undefined];
  readonly #clients: Client[] = [
    ...ORGANIZATIONS.flatMap((organization) =>
      [undefined, ['tickets', 'sessions'] as const].map((collections) => ({ organization, collections })),
    ),
    { organization: 'north' as const, collections: undefined },
    { organization: 'north' as const, collections: ['events'] as const },
  ].map((one) => ({ ...one, records: new Map<string, string>(), token: undefined, snapshot: undefined }));
  readonly #world = new World();
  /** Numbers of responses of each kind. */
  readonly outcomes = { reset: 0, changes: 0, nothing: 0, later: 0 };

  constructor(folder: string, replicas: readonly { registry: StoreRegistry; api: TestApi }[]) {
    this.#folder = folder;
    this.#replicas = replicas.map((one) => ({ ...one, served: -1 }));
  }

  async run(step: Step): Promise<void> {
    if (step.does === 'build') await this.#build(step);
    else if (step.does === 'load') this.#load(step.replica, step.back);
    else await this.#sync(this.#clients[step.client], step.replica);
  }

  async #build({ from, changes, keep, without }: Step & { does: 'build' }): Promise<void> {
    const at = this.#snapshots.length;
    const { deletions, ...files } = this.#world.apply(changes);
    const earlier = from === 'nothing' ? undefined : this.#snapshots.at(-1);
    // An import that changes a base cannot remove an organization.
    const isBase = from === 'base' && earlier?.records.size === ORGANIZATIONS.length;
    const input = join(this.#folder, `import-${at}`);
    writeImport(input, isBase ? files : this.#world.all(without));
    if (isBase) writeFileSync(join(input, 'deletions.ndjson'), toFile(deletions));
    const path = join(this.#folder, `${at}.sqlite`);
    await build(input, path, {
      base: isBase ? earlier.path : undefined,
      previous: isBase ? undefined : earlier?.path,
      producedAt: new Date(PRODUCED_AT.getTime() + at),
      keepChangesMs: keep,
    });
    const image = readSnapshot(path);
    const records = new Map<string, Records>();
    const since = new Map<string, number>();
    for (const organization of ORGANIZATIONS) {
      const found = recordsIn(image, organization);
      if (found === undefined) continue;
      records.set(organization, found);
      since.set(organization, earlier?.since.get(organization) ?? at);
    }
    const ancestors = earlier === undefined ? [] : [earlier, ...earlier.ancestors];
    this.#snapshots.push({
      ...{ path, image, at, earlier, records, since, world: this.#world },
      ancestors: ancestors.filter((one) => one.at >= at - keep),
    });
  }

  #load(replica: number, back: number): void {
    const snapshot = this.#snapshots.at(-1 - back);
    if (snapshot === undefined) return;
    this.#replicas[replica].registry.swap('a.sqlite', snapshot.image);
    this.#replicas[replica].registry.releaseExpired(WALKED);
    this.#replicas[replica].served = Math.max(this.#replicas[replica].served, snapshot.at);
    this.#live[replica] = snapshot;
  }

  async #sync(client: Client, replica: number): Promise<void> {
    const { organization, collections = COLLECTION_NAMES, token, snapshot } = client;
    const [{ api, served }, live] = [this.#replicas[replica], this.#live[replica]];
    const expected = live?.records.get(organization);
    if (live === undefined || expected === undefined) return;
    const query = new URLSearchParams();
    if (token !== undefined) query.set('since', token);
    if (client.collections !== undefined) query.set('collections', client.collections.join());
    const { status, text } = await api.send(`/v1/changes?${query.toString()}`, {
      as: organization,
      headers: { 'Service-API-Version': 'preview' },
    });
    if (snapshot !== undefined && snapshot.at > live.at && snapshot.at > served) {
      expect(status, 'of a token of a later snapshot').to.equal(429);
      this.outcomes.later++;
      return;
    }
    expect(status).to.equal(200);
    const lines = text.trimEnd().split('\n');
    const parsed = lines.map((line) => JSON.parse(line) as Line);
    const isKnown =
      snapshot === live ||
      (snapshot !== undefined &&
        live.ancestors.includes(snapshot) &&
        snapshot.at >= (live.since.get(organization) ?? Infinity));
    expect(parsed[0].change === 'reset', 'reset').to.equal(!isKnown);
    const order = parsed.map(({ change }) => ['reset', 'delete', 'put', 'end'].indexOf(change));
    expect(order).to.deep.equal(order.toSorted());
    const puts = parsed.filter(({ change }) => change === 'put');
    const places = puts.map(({ collection }) => COLLECTION_NAMES.indexOf(collection));
    expect(places, 'the order in which records refer to each other').to.deep.equal(places.toSorted());
    if (!isKnown) client.records.clear();
    const named = { delete: new Set<string>(), put: new Set<string>() };
    for (const [i, { change, collection, id }] of parsed.entries()) {
      if (change !== 'delete' && change !== 'put') continue;
      const key = keyOf(collection, id);
      expect(named.delete.has(key) || named.put.has(key), `${key} twice`).to.equal(false);
      named[change].add(key);
      if (change === 'delete') client.records.delete(key);
      else client.records.set(key, contentOf(lines[i], collection));
    }
    const isRequested = (key: string) => collections.some((name) => key.startsWith(`["${name}"`));
    const content = new Map(expected.entries().filter(([key]) => isRequested(key)));
    expect([...client.records].sort()).to.deep.equal([...content].sort());
    const [end] = parsed.slice(-1);
    expect(end.dataAsOf).to.equal(live.image.producedAt);
    expect(Object.keys(end.counts)).to.deep.equal(
      COLLECTION_NAMES.filter((name) => collections.includes(name)),
    );
    for (const [name, count] of Object.entries(end.counts))
      expect(count, name).to.equal(
        content
          .keys()
          .filter((key) => key.startsWith(`["${name}"`))
          .toArray().length,
      );
    if (isKnown) {
      const { put, gone } = changesBetween(snapshot, live, organization);
      expect([...named.put].sort()).to.deep.equal(put.filter(isRequested).sort());
      expect([...named.delete].sort()).to.deep.equal(gone.filter(isRequested).sort());
      this.outcomes[parsed.length > 1 ? 'changes' : 'nothing']++;
    } else this.outcomes.reset++;
    [client.token, client.snapshot] = [end.next, live];
  }
}

/** Returns what a copy holds of a put: the record as it is stored, and the event of a session. */
function contentOf(line: string, collection: CollectionName): string {
  const record = line.slice(line.indexOf(',"record":') + ',"record":'.length, -1);
  if (collection === 'events') return record.replace(/,"nextSessionStartAt":[^{}]*}$/, '}');
  if (collection !== 'sessions') return record;
  return `${(JSON.parse(line) as { readonly eventId: string }).eventId} ${record}`;
}

/** Returns the keys of the records that changed from one snapshot to a later one, on the way too, and of those gone. */
function changesBetween(from: Snapshot, to: Snapshot, organization: string) {
  const touched = new Set<string>();
  for (let one = to; one !== from && one.earlier !== undefined; one = one.earlier) {
    const [before, after] = [one.earlier, one].map(
      ({ records }) => records.get(organization) ?? new Map<string, string>(),
    );
    for (const key of new Set([...before.keys(), ...after.keys()]))
      if (before.get(key) !== after.get(key)) touched.add(key);
  }
  const present = to.records.get(organization);
  return {
    put: [...touched].filter((key) => present?.has(key)),
    gone: [...touched].filter((key) => !present?.has(key)),
  };
}

describe('The stream of changes', () => {
  it('makes each copy equal to the snapshot, with the records that changed alone, in random histories', async () => {
    const numRuns = byDepth({ short: 8, deep: 200 });
    let histories = 0;
    const outcomes = { reset: 0, changes: 0, nothing: 0, later: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 50, size: 'max' }), async (steps) => {
        histories++;
        await withFolder(async (inFolder) => {
          await using servers = new AsyncDisposableStack();
          const replicas = await Array.fromAsync(
            [new StoreRegistry(), new StoreRegistry()],
            async (registry) => ({
              registry,
              api: servers.use(await TestApi.start({ stores: () => registry.view })),
            }),
          );
          const model = new Model(inFolder('.'), replicas);
          for (const one of steps) await model.run(one);
          for (const name of Object.keys(outcomes) as (keyof typeof outcomes)[])
            outcomes[name] += model.outcomes[name];
        });
      }),
      { seed: 20261124, numRuns },
    );
    // Each kind of response is among them, unless a limit of time ends the property early.
    if (histories < numRuns) return;
    for (const [name, count] of Object.entries(outcomes)) expect(count, name).to.be.greaterThan(0);
  });
});
