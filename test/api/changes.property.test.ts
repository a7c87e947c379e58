import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { CollectionName } from '../../src/contract/operations.ts';
import { COLLECTION_NAMES } from '../../src/contract/resources.ts';
import { COLLECTIONS } from '../../src/snapshot/format/layout.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import {
  type Change,
  change,
  EVENT_IDS,
  type Files,
  ORGANIZATIONS,
  World,
} from '../support/random-history.ts';
import { byDepth } from '../support/depth.ts';
import {
  build,
  copiedRecords,
  type ImportRecord,
  PRODUCED_AT,
  toFile,
  writeImport,
} from '../support/import-folder.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { times } from '../support/records.ts';
import { TestApi } from '../support/test-api.ts';
import { withFolder } from '../support/temporary-folder.ts';
import { WALKED } from '../support/empty-image.ts';

type Organization = (typeof ORGANIZATIONS)[number];
/** By collection and id: what a copy holds of a record, and the events that the record belongs to. */
type Records = ReadonlyMap<string, { readonly content: string; readonly eventIds: readonly unknown[] }>;

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
  /** Also with other events than in the round before, if the client names some. */
  | {
      readonly does: 'sync';
      readonly replica: number;
      readonly clients: readonly number[];
      readonly other: boolean;
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('build'),
      from: fc.constantFrom('base', 'base', 'previous', 'previous', 'nothing'),
      changes: fc.array(change, { maxLength: 30, size: 'max' }),
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
  {
    weight: 10,
    arbitrary: fc.record({
      does: fc.constant('sync'),
      replica: fc.nat(1),
      clients: fc.subarray(times(10, Number)),
      other: fc.constantFrom(false, false, false, false, false, true),
    }),
  },
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
}

interface Client {
  readonly organization: Organization;
  readonly collections: readonly CollectionName[] | undefined;
  /** The events of the next round, and others. */
  eventIds: readonly (readonly string[] | undefined)[];
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

const NO_RECORDS: Records = new Map();

/** Returns the records of an organization in a snapshot of an import. A copy holds sessions with their events. */
function recordsIn(
  { organizations }: SnapshotImage,
  files: Files,
  organizationId: string,
): Records | undefined {
  const found = organizations.find((one) => one.organizationId === organizationId);
  if (found === undefined) return undefined;
  const own = COLLECTIONS.flatMap(({ name, resource }) =>
    files[name]
      .filter((line) => line['organizationId'] === organizationId)
      .map((line) => [keyOf(name, String(line[resource.id])), eventsOf(name, line)] as const),
  );
  const eventIds = new Map(own);
  return new Map(
    copiedRecords(found).map(({ collection, id, event_id: eventId, body }) => {
      const key = keyOf(collection, id);
      const content = eventId === null ? body : `${eventId} ${body}`;
      return [key, { content, eventIds: eventIds.get(key) ?? [] }];
    }),
  );
}

/** Returns the events that a record of an import belongs to. */
function eventsOf(collection: CollectionName, line: ImportRecord): readonly unknown[] {
  const { id, eventId, placedItems, heldByEventIds } = line;
  if (collection === 'events') return [id];
  if (Array.isArray(placedItems)) return placedItems.map((item: ImportRecord) => item['eventId']);
  return Array.isArray(heldByEventIds) ? heldByEventIds : [eventId];
}

const belongsTo = (eventIds: readonly unknown[], to: readonly string[] | undefined) =>
  to === undefined || to.some((id) => eventIds.includes(id));

/** Clients with copies of some events. The second events of each are those of some rounds. */
const SELECTIVE = [
  { organization: 'north', collections: undefined, eventIds: [EVENT_IDS.slice(0, 1), EVENT_IDS] },
  {
    organization: 'north',
    collections: undefined,
    eventIds: [EVENT_IDS.slice(0, 2), [...EVENT_IDS, 'none']],
  },
  { organization: 'south', collections: undefined, eventIds: [EVENT_IDS.slice(1, 3), undefined] },
  { organization: 'south', collections: ['offers'], eventIds: [EVENT_IDS.slice(3), ['none']] },
] as const;

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
    ...SELECTIVE,
  ].map((one) => ({
    ...{ eventIds: [undefined], ...one },
    ...{ records: new Map<string, string>(), token: undefined, snapshot: undefined },
  }));
  readonly #world = new World();
  /** Numbers of responses of each kind. */
  readonly outcomes = { reset: 0, changes: 0, moved: 0, nothing: 0, later: 0 };

  constructor(folder: string, replicas: readonly { registry: StoreRegistry; api: TestApi }[]) {
    this.#folder = folder;
    this.#replicas = replicas.map((one) => ({ ...one, served: -1 }));
  }

  async run(step: Step): Promise<void> {
    if (step.does === 'build') await this.#build(step);
    else if (step.does === 'load') this.#load(step.replica, step.back);
    else for (const client of step.clients) await this.#sync(this.#clients[client], step);
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
      allowShrink: true,
    });
    const image = readSnapshot(path);
    const records = new Map<string, Records>();
    const since = new Map<string, number>();
    for (const organization of ORGANIZATIONS) {
      const found = recordsIn(image, this.#world.all(), organization);
      if (found === undefined) continue;
      records.set(organization, found);
      since.set(organization, earlier?.since.get(organization) ?? at);
    }
    const ancestors = earlier === undefined ? [] : [earlier, ...earlier.ancestors];
    this.#snapshots.push({
      ...{ path, image, at, earlier, records, since },
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

  async #sync(client: Client, { replica, other }: Step & { does: 'sync' }): Promise<void> {
    const { organization, collections = COLLECTION_NAMES, token, snapshot } = client;
    const [{ api, served }, live] = [this.#replicas[replica], this.#live[replica]];
    const expected = live?.records.get(organization);
    if (live === undefined || expected === undefined) return;
    const last = client.eventIds[0];
    if (other) client.eventIds = client.eventIds.toReversed();
    const [eventIds] = client.eventIds;
    const query = new URLSearchParams();
    // The same events in another order, some of them twice.
    if (eventIds !== undefined)
      for (const id of replica === 0 ? eventIds : [...eventIds, eventIds[0]].toReversed())
        query.append('eventIds', id);
    if (token !== undefined) query.set('since', token);
    if (client.collections !== undefined) query.set('collections', client.collections.join());
    const { status, text } = await api.send(`/v1/changes?${query.toString()}`, {
      as: organization,
      headers: { 'Service-API-Version': 'preview' },
    });
    const isSame = eventIds === last;
    if (isSame && snapshot !== undefined && snapshot.at > live.at && snapshot.at > served) {
      expect(status, 'of a token of a later snapshot').to.equal(429);
      this.outcomes.later++;
      return;
    }
    expect(status).to.equal(200);
    const lines = text.trimEnd().split('\n');
    const parsed = lines.map((line) => JSON.parse(line) as Line);
    const isKnown =
      isSame &&
      (snapshot === live ||
        (snapshot !== undefined &&
          live.ancestors.includes(snapshot) &&
          snapshot.at >= (live.since.get(organization) ?? Infinity)));
    expect(parsed[0].change === 'reset', 'reset').to.equal(!isKnown);
    const order = parsed.map(({ change }) => ['reset', 'delete', 'put', 'end'].indexOf(change));
    expect(order).to.deep.equal(order.toSorted());
    const placesOf = (lines: readonly Line[], kind: Line['change']) =>
      lines
        .filter(({ change }) => change === kind)
        .map(({ collection }) => COLLECTION_NAMES.indexOf(collection));
    // Deletions are in the reverse order.
    for (const places of [placesOf(parsed, 'put'), placesOf(parsed.toReversed(), 'delete')])
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
    const isCopied = (key: string) => {
      const record = expected.get(key);
      return record !== undefined && isRequested(key) && belongsTo(record.eventIds, eventIds);
    };
    const content = new Map(
      expected
        .entries()
        .filter(([key]) => isCopied(key))
        .map(([key, record]) => [key, record.content]),
    );
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
      const touched = changesBetween(snapshot, live, organization).filter(isRequested);
      expect([...named.put].sort()).to.deep.equal(touched.filter(isCopied).sort());
      expect([...named.delete].sort()).to.deep.equal(touched.filter((key) => !isCopied(key)).sort());
      if (eventIds !== undefined && touched.some((key) => expected.has(key) && !isCopied(key)))
        this.outcomes.moved++;
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

/** Returns the keys of the records that changed from one snapshot to a later one, on the way too. */
function changesBetween(from: Snapshot, to: Snapshot, organization: string): readonly string[] {
  const touched = new Set<string>();
  for (let one = to; one !== from && one.earlier !== undefined; one = one.earlier) {
    const [before, after] = [one.earlier, one].map(({ records }) => records.get(organization) ?? NO_RECORDS);
    for (const key of new Set([...before.keys(), ...after.keys()]))
      if (JSON.stringify(before.get(key)) !== JSON.stringify(after.get(key))) touched.add(key);
  }
  return [...touched];
}

describe('The stream of changes', () => {
  it('makes each copy equal to the snapshot, with the records that changed alone, in random histories', async () => {
    const numRuns = byDepth({ short: 8, deep: 200 });
    let histories = 0;
    const outcomes = { reset: 0, changes: 0, moved: 0, nothing: 0, later: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 60, size: 'max' }), async (steps) => {
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
