import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import { readHistory } from '../../../scripts/snapshot/inspect.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { Command } from '../../support/command.ts';
import { needs } from '../../support/components.ts';
import { byDepth } from '../../support/depth.ts';
import { build, digestsOf } from '../../support/import-folder.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { DatabaseServer, DatabaseSession, exportLines, Feed } from './server.ts';
import { Writers } from './writers.ts';

const SEED = 20261122;
const FEEDS = byDepth({ short: 2, deep: 20 });

/**
 * The last of the programs that a feed starts: a report, the export, a change of the state, the build, the end of the
 * export, a change of the state, a report, the tidying.
 */
const LAST_STEP = 8;
/** The moments at which a feed is killed; during a step, when a file appears. */
const KILLS = [
  ['before the export', 'before 2', ''],
  ['during the export', 'during 2', 'feed/export/tickets.ndjson'],
  ['before the build', 'before 4', ''],
  ['during the build', 'during 4', 'snapshots/.*building-*/*'],
  ['before the end of the export', 'before 5', ''],
  ['before the change of the state', 'before 6', ''],
  ['at its end', 'after 6', ''],
  ['before it tidies up', 'before 8', ''],
];
/** Number of feeds that are killed one after the other before one completes. */
const KILLED_TOGETHER = byDepth({ short: 3, deep: 1 });

describe('A feed from PostgreSQL', () => {
  needs('PostgreSQL 15', 'faketime');
  const inFolder = folderForAll();
  let server: DatabaseServer;
  let feed: Feed;
  let writers: Writers;
  const published = () => inFolder('snapshots/main.sqlite');
  const builtFiles = () =>
    readdirSync(inFolder('feed/built'))
      .filter((name) => name.endsWith('.sqlite'))
      .sort();

  before(async () => {
    writeFileSync(inFolder('clock'), '+0');
    server = new DatabaseServer(inFolder, { clock: inFolder('clock') });
    await server.create();
    await server.load(inFolder, { events: 6, tickets: 150 });
    feed = new Feed(server, inFolder(''));
    // The last one keeps transactions open over several feeds.
    writers = new Writers(server, new Random(SEED), [4, 12, 60]);
  });

  after(async () => {
    await writers.end();
    server[Symbol.dispose]();
  });

  /** Runs a feed to its end. Returns its output. */
  async function completeFeed(...options: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await feed.run({}, options);
    expect(code, stderr).to.equal(0);
    return stdout;
  }

  /** Compares the published snapshot with a full export of the database. */
  async function expectSnapshotToEqualDatabase(): Promise<void> {
    await exportLines(server, inFolder('expected'));
    await build(inFolder('expected'), inFolder('expected.sqlite'));
    const expected = readSnapshot(inFolder('expected.sqlite'));
    expect(digestsOf(readSnapshot(published()))).to.deep.equal(digestsOf(expected));
  }

  it('exports everything at first', async () => {
    expect(await completeFeed()).to.match(/^feed\.sh: everything: there is no earlier snapshot$/m);
    expect(readFileSync(inFolder('steps'), 'utf8').trim()).to.equal(String(LAST_STEP));
    await expectSnapshotToEqualDatabase();
  });

  it(`equals the database after each of ${FEEDS} feeds, while transactions write, commit late and stay open (seed ${SEED})`, async () => {
    for (let i = 0; i < FEEDS; i++) {
      await writers.writeDuring(async () => {
        await (i % 2 === 0 ? completeFeed() : writers.commitMore(10));
      });
      await completeFeed();
      await expectSnapshotToEqualDatabase();
    }
    expect(writers.rolledBack).to.be.below(writers.committed);
  });

  for (let first = 0; first < KILLS.length; first += KILLED_TOGETHER) {
    const kills = KILLS.slice(first, first + KILLED_TOGETHER);
    it(`makes up for feeds that are killed ${kills.map(([moment]) => moment).join(', ')}`, async () => {
      for (const [, at, awaited] of kills) {
        await writers.writeDuring(async () => {
          const { signal, stderr } = await feed.run({ KILL: at, AWAITED: inFolder(awaited) });
          expect(signal, stderr).to.equal('SIGKILL');
        });
      }
      await completeFeed();
      await expectSnapshotToEqualDatabase();
    });
  }

  it('exports everything with --full, and finds the records that are gone', async () => {
    // The deletion does not wait for a transaction that stays open.
    const ticket = 'SELECT id FROM tickets LIMIT 1 FOR UPDATE SKIP LOCKED';
    await server.psql(['-c', `DELETE FROM tickets WHERE id = (${ticket})`]);
    expect(await completeFeed('--full')).to.match(/^feed\.sh: everything: --full$/m);
    await expectSnapshotToEqualDatabase();
    expect(readHistory(published()).deleted).to.equal(1);
  });

  it('publishes nothing while paused, so that a rollback stays, and continues afterwards', async () => {
    const [earlier] = builtFiles();
    writeFileSync(inFolder('feed/paused'), '');
    const rollback = [
      'publish',
      inFolder(`feed/built/${earlier}`),
      '--as',
      'main',
      '--rollback',
      '--allow-shrink',
    ];
    const environment = { SNAPSHOT_DIR: inFolder('snapshots') };
    const { code, stderr } = await new Command('scripts/snapshot.ts', rollback, environment).ended;
    expect(code, stderr).to.equal(0);
    await writers.writeDuring(() => writers.commitMore(3));
    expect(await completeFeed()).to.equal(`feed.sh: paused; remove ${inFolder('feed/paused')} to continue\n`);
    const [live, restored] = [published(), inFolder(`feed/built/${earlier}`)].map((file) =>
      readSnapshot(file),
    );
    expect(live.snapshotId).to.equal(restored.snapshotId);

    rmSync(inFolder('feed/paused'));
    expect(await completeFeed()).to.match(/^feed\.sh: changes$/m);
    await expectSnapshotToEqualDatabase();
  });

  it('keeps the latest FEED_KEEP snapshots', async () => {
    const latest = builtFiles().slice(-1);
    expect(builtFiles()).to.have.length(3);
    expect(await feed.run({ FEED_KEEP: '2' })).to.include({ code: 0 });
    expect(builtFiles()).to.have.length(2).and.include.members(latest);
    expect(readFileSync(inFolder('feed/state'), 'utf8')).to.include(` ${builtFiles()[1]}\n`);
    expect(await feed.run({ FEED_KEEP: '0' })).to.include({ code: 2 });
  });

  it('goes on after a clock that was ahead, and returns to its time with --rollback', async () => {
    const isAhead = () => Date.parse(readSnapshot(published()).producedAt) > Date.now() + 3_600_000;
    writeFileSync(inFolder('clock'), '+2d');
    for (let i = 0; i < 3; i++) await completeFeed();
    writeFileSync(inFolder('clock'), '+0');
    await writers.writeDuring(() => writers.commitMore(3));
    expect(await completeFeed()).to.match(/^feed\.sh: changes$/m);
    await expectSnapshotToEqualDatabase();
    expect(isAhead()).to.equal(true);
    const { snapshots } = readHistory(published());
    expect(snapshots).to.be.above(1);

    expect(await completeFeed('--rollback')).to.match(/^feed\.sh: everything: --rollback$/m);
    expect(isAhead()).to.equal(false);
    expect(builtFiles()).to.have.length(1);
    await writers.writeDuring(() => writers.commitMore(3));
    expect(await completeFeed()).to.match(/^feed\.sh: changes$/m);
    await expectSnapshotToEqualDatabase();
    expect(isAhead()).to.equal(false);
  });

  it('fails soon when a table is locked, reports why, and makes up for it', async () => {
    const report = () =>
      JSON.parse(readFileSync(inFolder('snapshots/main.feed.json'), 'utf8')) as Record<string, unknown>;
    const session = new DatabaseSession(server);
    await session.run('BEGIN; LOCK TABLE pickup_points');
    const { code, stderr } = await feed.run();
    expect(code, stderr).to.equal(1);
    expect(stderr).to.match(/canceling statement due to lock timeout[^]*feed\.sh: the export failed\n$/);
    expect(report()['failure']).to.match(/^the export failed: .*lock timeout/);
    await session.end();
    await completeFeed();
    expect(report()).to.include({ failure: null, failedAt: null, pausedAt: null });
    expect(report()['publishedAt']).to.equal(report()['endedAt']);
  });

  it('refuses another feed at the same time, a database that does not respond, and unknown options', async () => {
    const state = readFileSync(inFolder('feed/state'), 'utf8');
    const lock = spawn('flock', [inFolder('feed/lock'), 'sh', '-c', 'echo locked && read end'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(lock.stdout, 'data');
    expect(await feed.run()).to.include({
      code: 1,
      stderr: `feed.sh: ${inFolder('feed')}: another feed is running\n`,
    });
    lock.stdin.end();
    await once(lock, 'close');

    const unreachable = await feed.run({ PGHOST: inFolder('nowhere') });
    expect(unreachable.code).to.equal(1);
    expect(unreachable.stderr).to.match(/connection to server .* failed[^]*feed\.sh: the export failed\n$/);

    expect(await feed.run({}, ['--fast'])).to.include({ code: 2 });
    expect(readFileSync(inFolder('feed/state'), 'utf8')).to.equal(state);
  });
});
