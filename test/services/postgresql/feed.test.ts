import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import { DEFAULT_SAMPLE, writeSample } from '../../../scripts/sample/write-sample.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import type { SnapshotImage } from '../../../src/store/organization-image.ts';
import { type Ended, INHERITED } from '../../support/command.ts';
import { needs } from '../../support/components.ts';
import { byDepth } from '../../support/depth.ts';
import { build, digestsOf, organizationOf, textsOf } from '../../support/import-folder.ts';
import { newCredential, ReplicaUnderTest } from '../../support/replica-under-test.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { DatabaseServer, EXAMPLE, exportLines } from './server.ts';
import { Writers } from './writers.ts';

const SEED = 20261122;
const FEEDS = byDepth({ short: 2, deep: 20 });
const ORGANIZATIONS = ['theatre-des-trois-ponts', 'tsukimi-matsuri'];
const COLLECTIONS = ['events', 'sessions', 'tickets', 'orders', 'offers'] as const;

/** The steps of a feed, each a program that it starts, with a file that appears during the step. */
const STEPS: readonly { readonly step: string; readonly awaited?: string }[] = [
  { step: 'export', awaited: 'feed/export/tickets.ndjson' },
  { step: 'build', awaited: 'feed/*.building-*/*' },
  { step: 'publication', awaited: 'snapshots/.*publishing-*' },
  { step: 'change of the state' },
  { step: 'trimming' },
];
const KILLS = [
  ...STEPS.flatMap(({ step, awaited }, i) => [
    { title: `before the ${step}`, at: `before ${i + 1}`, awaited: '' },
    ...(awaited === undefined ? [] : [{ title: `during the ${step}`, at: `during ${i + 1}`, awaited }]),
  ]),
  { title: 'at its end', at: `after ${STEPS.length}`, awaited: '' },
];
/** Number of feeds that are killed one after the other before one completes. */
const KILLED_TOGETHER = byDepth({ short: 3, deep: 1 });

interface Change {
  readonly change: string;
  readonly collection?: string;
  readonly id?: string;
  readonly next?: string;
}

describe('A feed from PostgreSQL', () => {
  needs('PostgreSQL 15');
  const inFolder = folderForAll();
  const started = new AsyncDisposableStack();
  let server: DatabaseServer;
  let replica: ReplicaUnderTest;
  let writers: Writers;
  let credentials: ReadonlyMap<string, string>;
  /** By organization: a copy that follows the changes, and the lines of its latest round. */
  const copies = new Map<string, { readonly records: Map<string, string>; round: readonly Change[] }>();

  before(async () => {
    server = await DatabaseServer.start(inFolder);
    started.defer(() => server.end());
    await server.psql(['-f', join(EXAMPLE, 'schema.sql')]);
    await writeSample({
      ...DEFAULT_SAMPLE,
      organizations: 2,
      events: 6,
      tickets: 150,
      output: inFolder('sample'),
    });
    await server.psql(['-f', join(EXAMPLE, 'load.sql')], inFolder('sample'));
    for (const file of ['views', 'changes']) await server.psql(['-f', join(EXAMPLE, `${file}.sql`)]);
    mkdirSync(inFolder('programs'));
    for (const name of ['psql', 'npm', 'mv'])
      symlinkSync(join(import.meta.dirname, 'killing-program.sh'), inFolder(`programs/${name}`));
    replica = await ReplicaUnderTest.start(inFolder);
    started.defer(() => replica.end());
    credentials = new Map(ORGANIZATIONS.map((id) => [id, newCredential(inFolder, id)]));
    await replica.waitForLog({ msg: 'keys live', validKeys: ORGANIZATIONS.length });
    // The last one keeps transactions open over several feeds.
    writers = new Writers(server, new Random(SEED), [4, 12, 60]);
    started.defer(() => writers.end());
  });

  after(() => started.disposeAsync());

  /** Runs a feed. `KILL` names the step at which it is killed. */
  async function feed(
    environment: Readonly<Record<string, string>> = {},
    options: readonly string[] = [],
  ): Promise<Ended> {
    writeFileSync(inFolder('steps'), '0');
    const child = spawn(join(EXAMPLE, 'feed.sh'), options, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...INHERITED,
        ...server.environment,
        PATH: [inFolder('programs'), INHERITED['PATH']].join(delimiter),
        FEED_DIR: inFolder('feed'),
        SNAPSHOT_DIR: inFolder('snapshots'),
        STEPS: inFolder('steps'),
        ...environment,
      },
    });
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code: child.exitCode, signal: child.signalCode, stdout, stderr };
  }

  /** Runs a feed to its end, and waits until its snapshot is live. Returns its output. */
  async function completeFeed(...options: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await feed({}, options);
    expect(code, stderr).to.equal(0);
    const snapshotId = /snapshot +([0-9a-f-]{36})/.exec(stdout)?.[1];
    expect(snapshotId, stdout).to.be.a('string');
    await replica.waitForLog({ msg: 'snapshot live', snapshotId });
    return stdout;
  }

  /** Compares the published snapshot, and copies by the API, with a full export of the database. */
  async function expectReplicaToEqualDatabase(): Promise<void> {
    await exportLines(server, inFolder('expected'));
    await build(inFolder('expected'), inFolder('expected.sqlite'));
    const expected = readSnapshot(inFolder('expected.sqlite'));
    expect(digestsOf(readSnapshot(inFolder('snapshots/main.sqlite')))).to.deep.equal(digestsOf(expected));
    for (const organizationId of ORGANIZATIONS) await expectCopyToEqual(organizationId, expected);
  }

  /** Brings the copy of an organization up to date, by one request, and compares it with the snapshot. */
  async function expectCopyToEqual(organizationId: string, expected: SnapshotImage): Promise<void> {
    const copy = copies.get(organizationId) ?? { records: new Map<string, string>(), round: [] };
    const token = copy.round.at(-1)?.next;
    const query = token === undefined ? '' : `?since=${token}`;
    const credential = credentials.get(organizationId) ?? '';
    const headers = { 'Service-API-Version': 'preview' };
    const { status, text } = await replica.request(`/v1/changes${query}`, credential, headers);
    expect(status, text).to.equal(200);
    const lines = text.trimEnd().split('\n');
    copy.round = lines.map((line) => JSON.parse(line) as Change);
    for (const [i, { change, collection = '', id = '' }] of copy.round.entries()) {
      if (change === 'reset') copy.records.clear();
      if (change === 'delete') copy.records.delete(`${collection} ${id}`);
      // The session that is next depends on the time.
      const record = lines[i].replace(/^.*?"record":/, '').replace(/(,"nextSessionStartAt":[^{}]*)?}}$/, '}');
      if (change === 'put') copy.records.set(`${collection} ${id}`, record);
    }
    copies.set(organizationId, copy);
    const organization = organizationOf(expected, organizationId);
    for (const name of COLLECTIONS) {
      const copied = [...copy.records].flatMap(([key, record]) =>
        key.startsWith(`${name} `) ? [record] : [],
      );
      expect(copied.sort(), `copied ${name}`).to.deep.equal(textsOf(organization[name]).sort());
    }
  }

  it('exports everything at first', async () => {
    expect(await completeFeed()).to.match(/everything since transaction \d+$/m);
    expect(readFileSync(inFolder('steps'), 'utf8').trim()).to.equal(String(STEPS.length));
    await expectReplicaToEqualDatabase();
  });

  it(`equals the database after each of ${FEEDS} feeds, while transactions write, commit late and stay open (seed ${SEED})`, async () => {
    for (let i = 0; i < FEEDS; i++) {
      await writers.writeDuring(async () => {
        await (i % 2 === 0 ? completeFeed() : writers.commitMore(10));
      });
      await completeFeed();
      await expectReplicaToEqualDatabase();
    }
    expect(writers.rolledBack).to.be.below(writers.committed);
  });

  for (let first = 0; first < KILLS.length; first += KILLED_TOGETHER) {
    const kills = KILLS.slice(first, first + KILLED_TOGETHER);
    it(`makes up for feeds that are killed ${kills.map(({ title }) => title).join(', ')}`, async () => {
      for (const { at, awaited } of kills) {
        await writers.writeDuring(async () => {
          const { signal, stderr } = await feed({ KILL: at, AWAITED: inFolder(awaited) });
          expect(signal, stderr).to.equal('SIGKILL');
        });
      }
      await completeFeed();
      await expectReplicaToEqualDatabase();
      expect(replica.linesOf({ msg: 'snapshot refused' })).to.deep.equal([]);
    });
  }

  it('exports everything with --full, and finds the records that are gone without a note', async () => {
    const [ticketId] = await server.valuesOf('SELECT min(id) FROM tickets');
    await server.psql([
      '-c',
      `SET session_replication_role = replica; DELETE FROM tickets WHERE id = '${ticketId}'`,
    ]);
    expect(await completeFeed('--full')).to.match(/everything since transaction \d+$/m);
    await expectReplicaToEqualDatabase();
    const lines = [...copies.values()].flatMap(({ round }) => round);
    expect(lines).to.deep.include({ change: 'delete', collection: 'tickets', id: ticketId });
  });

  it('refuses another feed at the same time, a database that does not respond, and unknown options', async () => {
    const published = readFileSync(inFolder('feed/state'), 'utf8');
    const lock = spawn('flock', [inFolder('feed/lock'), 'sh', '-c', 'echo locked && read end'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(lock.stdout, 'data');
    expect(await feed()).to.include({
      code: 1,
      stderr: `feed.sh: ${inFolder('feed')}: another feed is running\n`,
    });
    lock.stdin.end();
    await once(lock, 'close');

    const unreachable = await feed({ PGHOST: inFolder('nowhere') });
    expect(unreachable.code).to.equal(1);
    expect(unreachable.stderr).to.match(/connection to server .* failed[^]*feed\.sh: the export failed\n$/);

    expect(await feed({}, ['--fast'])).to.include({ code: 2 });
    expect(readFileSync(inFolder('feed/state'), 'utf8')).to.equal(published);
  });
});
