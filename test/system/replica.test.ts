import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { expect } from 'chai';
import packageJson from '../../package.json' with { type: 'json' };
import { CONFIG_VARIABLES } from '../../src/config.ts';
import { ROOT, run } from '../support/command.ts';
import {
  type Environment,
  environmentIn,
  ReplicaUnderTest,
  SAMPLE_ORGANIZATION,
} from '../support/replica-under-test.ts';
import { folderForEach } from '../support/temporary-folder.ts';

describe('The replica process', () => {
  const inFolder = folderForEach();
  let replica: ReplicaUnderTest;

  async function start(environment: Environment = {}): Promise<void> {
    replica = await ReplicaUnderTest.start(inFolder, environment);
  }

  const keys = async (...command: readonly string[]) =>
    (await run('scripts/keys.ts', command, environmentIn(inFolder))).stdout;

  afterEach(() => replica.end());

  it('runs without data and keys, and serves both when they appear, until the key is revoked', async () => {
    await start();
    rmSync(inFolder('snapshots'), { recursive: true });
    const early = await replica.request('/v1/events', 'svc:o:any:thing');
    expect(early).to.include({ status: 429 });
    expect(Number(early.headers['retry-after'])).to.be.at.least(1);
    expect(early.text).to.match(/not ready/);

    const draft = inFolder('draft.sqlite');
    const build = ['build', '--input', 'data/sample', '--output', draft];
    expect(await run('scripts/snapshot.ts', build)).to.include({ code: 0 });
    mkdirSync(inFolder('snapshots'));
    renameSync(draft, inFolder('snapshots/sample.sqlite'));
    await replica.waitForLog({ msg: 'snapshot live' });
    expect((await replica.request('/v1/events', 'svc:o:any:thing')).text).to.match(/"detail":".*keys/);

    const created = await keys('create', '--organization', SAMPLE_ORGANIZATION);
    const credential = created.trim().split('\n').at(-1) ?? '';
    await replica.waitForLog({ msg: 'keys live', validKeys: 1 });
    const { status, text } = await replica.request('/v1/tickets?perPage=2', credential);
    expect(status).to.equal(200);
    expect(text).to.match(/\/v1\/tickets\?page=2&perPage=2&snapshot=[\w-]{43}"/);

    const [keyId] = /key_\w+/.exec(await keys('list')) ?? [];
    // A poll may have read the new file before it had the key.
    const lines = replica.log.length;
    await keys('revoke', String(keyId));
    await replica.waitForLog({ msg: 'keys live', validKeys: 0 }, lines);
    const refused = await replica.request('/v1/events', credential);
    expect(refused).to.include({ status: 403 });
    expect(refused.text).to.match(/revoked/);

    replica.signal('SIGTERM');
    expect(await replica.ended).to.include({ code: 0, signal: null, stderr: '' });
    expect(replica.linesOf({ msg: 'stopped' })).to.have.length(1);
    expect(replica.stdout, 'no secret is logged').not.to.include(credential.split(':')[3]);
  });

  it('says in one line that it is for a proxy, if it trusts none and listens beyond the machine', async () => {
    for (const [environment, lines] of [
      [{ HOST: '0.0.0.0' }, 1],
      [{ HOST: '0.0.0.0', TRUST_PROXY: 'loopback' }, 0],
      [{ HOST: '127.0.0.2' }, 0],
    ] as const) {
      await start(environment);
      const said = replica.log.filter(({ msg }) => String(msg).includes('TRUST_PROXY'));
      expect(said, JSON.stringify(environment)).to.have.length(lines);
      await replica.end();
    }
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
    expect(replica.linesOf({ level: 'warn' })).to.have.length(1);
    expect(replica.log[0]).to.deep.include({ variable: 'SNAPSHOT_DIRS', similar: 'SNAPSHOT_DIR' });
  });

  it('reports a port that is in use, also when its threads share it', async () => {
    await start({ THREADS: '2' });
    for (const THREADS of ['1', '2']) {
      const environment = { ...environmentIn(inFolder), PORT: String(replica.port), THREADS };
      const { code, stderr } = await run('src/main.ts', [], environment);
      expect(code).to.equal(1);
      expect(stderr).to.match(
        /EADDRINUSE.*:\d+; set PORT and ADMIN_PORT to free ports, such as PORT=3010 ADMIN_PORT=3011\n$/,
      );
    }
  });

  it('reports an address that the machine does not have', async () => {
    await start();
    const environment = { ...environmentIn(inFolder), HOST: '192.0.2.1' };
    const reason = 'listen EADDRNOTAVAIL: address not available 192.0.2.1\n';
    expect(await run('src/main.ts', [], environment)).to.include({ code: 1, stderr: reason });
  });
});
