import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { expect } from 'chai';
import packageJson from '../../package.json' with { type: 'json' };
import { CONFIG_VARIABLES } from '../../src/config.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { ROOT, run } from '../support/command.ts';
import { ReplicaUnderTest } from '../support/replica-under-test.ts';

const ORGANIZATION = 'theatre-des-trois-ponts';

describe('The replica process', () => {
  const inFolder = folderForAll();
  let replica: ReplicaUnderTest;

  const files = () => ({ SNAPSHOT_DIR: inFolder('snapshots'), KEYS_FILE: inFolder('keys.sqlite') });

  async function start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    replica = await ReplicaUnderTest.start(inFolder, environment);
  }

  const ask = (path: string, credential = '') =>
    fetch(
      replica.origin + path,
      credential === '' ? {} : { headers: { Authorization: `Bearer ${credential}` } },
    );

  const build = (file: string) =>
    run('scripts/snapshot.ts', ['build', '--input', 'data/sample', '--output', inFolder(file)]);

  async function createKey(organization = ORGANIZATION): Promise<string> {
    const { stdout } = await run('scripts/keys.ts', ['create', '--organization', organization], files());
    return stdout.trim().split('\n').at(-1) ?? '';
  }

  afterEach(() => {
    replica.signal('SIGKILL');
    rmSync(inFolder('snapshots'), { recursive: true, force: true });
    rmSync(inFolder('keys.sqlite'), { force: true });
  });

  it('serves a built snapshot to a created key, and exits with 0 on SIGTERM', async () => {
    mkdirSync(inFolder('snapshots'));
    expect((await build('snapshots/sample.sqlite')).code).to.equal(0);
    const credential = await createKey();
    await start();
    await replica.waitForLog({ msg: 'snapshot live' });

    const events = await ask('/v1/events', credential);
    expect(events.status).to.equal(200);
    expect(await events.json()).to.include({
      page: 1,
      perPage: 25,
      totalPages: 1,
      hasMore: false,
      nextPage: null,
    });
    const tickets = (await (await ask('/v1/tickets?perPage=2', credential)).json()) as { nextPage: string };
    expect(tickets.nextPage).to.match(/\/v1\/tickets\?page=2&perPage=2&snapshot=[\w-]{43}$/);
    expect((await ask('/v1/tickets/none', credential)).status).to.equal(404);

    replica.signal('SIGTERM');
    expect(await replica.ended).to.include({ code: 0, signal: null, stderr: '' });
    expect(replica.linesOf({ msg: 'stopped' })).to.have.length(1);
    expect(replica.stdout, 'no secret is logged').not.to.include(credential.split(':')[3]);
  });

  it('runs without data and keys, answers that it is not ready, and loads both when they appear', async () => {
    await start({ SNAPSHOT_DIR: inFolder('later') });
    const early = await ask('/v1/events', 'svc:o:any:thing');
    expect(early.status).to.equal(429);
    expect(Number(early.headers.get('retry-after'))).to.be.at.least(1);
    expect(await early.json())
      .to.have.property('detail')
      .that.matches(/not ready/);

    // Built elsewhere and renamed into the folder, like a published snapshot.
    await build('beside.sqlite');
    mkdirSync(inFolder('later'));
    renameSync(inFolder('beside.sqlite'), inFolder('later/sample.sqlite'));
    await replica.waitForLog({ msg: 'snapshot live' });
    expect(await (await ask('/v1/events', 'svc:o:any:thing')).json())
      .to.have.property('detail')
      .that.matches(/keys/);

    const credential = await createKey();
    await replica.waitForLog({ msg: 'keys live', validKeys: 1 });
    expect((await ask('/v1/events', credential)).status).to.equal(200);
  });

  it('refuses a revoked key after its next poll', async () => {
    mkdirSync(inFolder('snapshots'));
    await build('snapshots/sample.sqlite');
    const credential = await createKey();
    await start();
    await replica.waitForLog({ msg: 'snapshot live' });
    expect((await ask('/v1/events', credential)).status).to.equal(200);

    const { stdout } = await run('scripts/keys.ts', ['list'], files());
    const [keyId] = /key_\w+/.exec(stdout) ?? [];
    expect((await run('scripts/keys.ts', ['revoke', String(keyId)], files())).code).to.equal(0);
    await replica.waitForLog({ msg: 'keys live', validKeys: 0 });
    const refused = await ask('/v1/events', credential);
    expect(refused.status).to.equal(403);
    expect(await refused.json())
      .to.have.property('detail')
      .that.matches(/revoked/);
  });

  it('refuses the second of two files with the same organization, and names both', async () => {
    mkdirSync(inFolder('snapshots'));
    await build('snapshots/a.sqlite');
    await build('snapshots/b.sqlite');
    await start();
    const { file, detail } = await replica.waitForLog({ msg: 'snapshot refused' });
    expect(file).to.equal('b.sqlite');
    expect(detail).to.include('a.sqlite');
    expect(replica.linesOf({ msg: 'snapshot live', file: 'a.sqlite' })).to.have.length(1);
  });

  it('keeps the live snapshot when its file is removed or invalid, and loads the next valid one', async () => {
    mkdirSync(inFolder('snapshots'));
    await build('snapshots/sample.sqlite');
    const credential = await createKey();
    await start();
    const { snapshotId: first } = await replica.waitForLog({ msg: 'snapshot live' });
    const live = async () => (await ask('/v1/events', credential)).headers.get('service-snapshot-id');

    renameSync(inFolder('snapshots/sample.sqlite'), inFolder('away'));
    await replica.waitForLog({ msg: 'snapshot file is gone; its organizations stay live' });
    expect(await live()).to.equal(first);
    mkdirSync(inFolder('snapshots/sample.sqlite'));
    await replica.waitForLog({ msg: 'snapshot refused' });
    expect(await live()).to.equal(first);
    rmSync(inFolder('snapshots/sample.sqlite'), { recursive: true });
    const seen = replica.log.length;
    await build('snapshots/sample.sqlite');
    const { snapshotId: second } = await replica.waitForLog({ msg: 'snapshot live' }, seen);
    expect(await live()).to.equal(second);
    expect(second).not.to.equal(first);
  });

  it('closes connections without a request on SIGTERM', async () => {
    await start();
    const silent = connect(replica.port, '127.0.0.1');
    await once(silent, 'connect');
    replica.signal('SIGTERM');
    expect(await replica.ended).to.include({ code: 0 });
    silent.destroy();
  });

  it('reports every invalid environment variable, and does not start', async () => {
    const { code, stderr } = await run('src/main.ts', [], { PORT: 'many', LOG_LEVEL: 'loud' });
    expect(code).to.equal(2);
    expect(stderr)
      .to.match(/PORT is "many"/)
      .and.to.match(/LOG_LEVEL is "loud"/);
  });

  it('prints its version, or its options and variables, and does not start', async () => {
    const [help, version, wrong] = await Promise.all(
      ['--help', '--version', '--port'].map((option) => run('src/main.ts', [option], { PORT: 'many' })),
    );
    expect(version).to.include({ code: 0, stdout: `${packageJson.version}\n`, stderr: '' });
    expect(help).to.include({ code: 0, stderr: '' });
    for (const [name, { default: value }] of Object.entries(CONFIG_VARIABLES)) {
      expect(help.stdout).to.match(new RegExp(`^ +${name} `, 'm'));
      if (value !== undefined) expect(help.stdout.replaceAll(/\s+/g, ' ')).to.include(`(default: ${value})`);
    }
    expect(wrong).to.include({ code: 2, stdout: '' });
    expect(wrong.stderr)
      .to.match(/^error: unknown option '--port'$/m)
      .and.to.include('Usage: npm start');
  });

  it('ends in silence when the reader of its options has closed the pipe', () => {
    const { stderr } = spawnSync('sh', ['-c', '"$0" src/main.ts --help | true', process.execPath], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(stderr).to.equal('');
  });

  it('warns of a variable with the name of another, misspelt', async () => {
    await start({ SNAPSHOT_DIRS: 'here' });
    expect(replica.linesOf({ level: 40 })).to.have.length(1);
    expect(replica.log[0]).to.deep.include({ variable: 'SNAPSHOT_DIRS', similar: 'SNAPSHOT_DIR' });
  });

  it('reports a port that is in use', async () => {
    await start();
    const { code, stderr } = await run('src/main.ts', [], {
      ...files(),
      HOST: '127.0.0.1',
      PORT: String(replica.port),
      ADMIN_PORT: '0',
    });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^port \d+ is in use; try: PORT=\d+ npm start\n$/);
  });
});
