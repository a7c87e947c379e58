import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { FORMAT_VERSION } from '../../src/snapshot/format/schema.ts';
import { Command, ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { eventually } from '../support/eventually.ts';
import { writeImport } from '../support/import-folder.ts';
import { times } from '../support/records.ts';
import { newCredential } from '../support/replica-under-test.ts';
import { smallImport } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { Fleet, type Member, whileWalking } from './fleet.ts';

const ORGANIZATIONS = times(8, (i) => `org-${i}`);
const TICKETS = 60;

type Version = 'old' | 'new';

describe('A fleet whose next version reads another format of snapshot files', () => {
  for (const component of ['haproxy', 'openssl', 'rclone', 'zstd'] as const) needs(component);
  const inFolder = folderForAll();
  /** The root of an installation. Each has a store of its own. */
  const rootOf = (version: Version) => (version === 'old' ? ROOT : inFolder('new'));
  const upgraded: Command[] = [];
  let credentials: string[];
  let fleet: Fleet;

  const run = (
    version: Version,
    program: string,
    args: readonly string[],
    inOwn = inFolder,
    store = version,
  ) => {
    const folders = { STORE: inFolder(`store-${store}`), STATE_DIR: inOwn(`state-${store}`) };
    for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
    const env = { ...process.env, ...folders, SNAPSHOT_DIR: inOwn(snapshotsOf(version)) };
    return promisify(execFile)(join(rootOf(version), program), args, { env });
  };
  const snapshotsOf = (version: Version) => (version === 'old' ? 'snapshots' : 'snapshots-2');

  before(async () => {
    install();
    credentials = ORGANIZATIONS.map((id) => newCredential(inFolder, id));
    writeImport(inFolder('import'), smallImport(ORGANIZATIONS));
    for (const version of ['old', 'new'] as const) {
      const build = ['build', '--input', inFolder('import'), '--output', inFolder(`${version}.sqlite`)];
      const { code, stderr } = await command(version, 'scripts/snapshot.ts', build).ended;
      expect(code, stderr).to.equal(0);
      await run(version, 'deploy/distribute/push', [inFolder(`${version}.sqlite`), '--as', 'main']);
    }
    for (const id of [1, 2]) await pull('old', (name) => inFolder(`replica-${id}/${name}`));
    fleet = await Fleet.start({ program: 'haproxy', shards: [2], inFolder, place: () => undefined });
  });

  after(async () => {
    await fleet[Symbol.asyncDispose]();
    for (const replica of upgraded) replica.kill('SIGKILL');
    await Promise.all(upgraded.map(({ ended }) => ended));
  });

  /** Installs the next version, which differs in the number of its format. */
  function install(): void {
    for (const name of ['src', 'scripts', 'data/schema.sql', 'data/keys.sql', 'deploy', 'package.json'])
      cpSync(join(ROOT, name), join(inFolder('new'), name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(inFolder('new'), 'node_modules'));
    const schema = join(inFolder('new'), 'data/schema.sql');
    const text = readFileSync(schema, 'utf8');
    writeFileSync(
      schema,
      text.replace(`user_version = ${FORMAT_VERSION}`, `user_version = ${FORMAT_VERSION + 1}`),
    );
  }

  const command = (version: Version, script: string, args: readonly string[], environment = {}) =>
    new Command(relative(ROOT, join(rootOf(version), script)), args, environment);

  function pull(version: Version, inOwn: Member['inFolder']) {
    mkdirSync(inOwn(snapshotsOf(version)), { recursive: true });
    return run(version, 'deploy/distribute/pull', ['main'], inOwn);
  }

  /** Starts the next version in place of a replica, with the same keys, and waits until it is ready. */
  async function upgrade({ port, adminPort, inFolder: inOwn, process: replaced }: Member): Promise<void> {
    await pull('new', inOwn);
    replaced.signal('SIGTERM');
    await replaced.ended;
    const replica = command('new', 'src/main.ts', [], {
      PORT: String(port),
      HOST: '127.0.0.1',
      ADMIN_PORT: String(adminPort),
      SNAPSHOT_DIR: inOwn(snapshotsOf('new')),
      KEYS_FILE: inFolder('keys.sqlite'),
      TRUST_PROXY: 'loopback',
    });
    upgraded.push(replica);
    const isReady = async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).ok;
    await eventually(() => isReady().catch(() => false));
  }

  it('keeps the live data where a machine pulls from the store of the other version', async () => {
    const [{ inFolder: inOwn }] = fleet.members;
    const live = readFileSync(inOwn('snapshots/main.sqlite'));
    const failed: unknown = await run('old', 'deploy/distribute/pull', ['main'], inOwn, 'new').catch(
      (error: unknown) => error,
    );
    expect(failed).to.have.property('code', 1);
    expect(failed)
      .to.have.property('stderr')
      .that.matches(/^pull: .*format.*\n$/);
    expect(readFileSync(inOwn('snapshots/main.sqlite')).equals(live)).to.equal(true);
  });

  it('is upgraded replica by replica without a gap', async () => {
    const walked = credentials.map((credential) => ({ credential, tickets: TICKETS }));
    await whileWalking(fleet, walked, async (walks) => {
      for (const member of fleet.members) {
        await upgrade(member);
        await walks(30);
      }
    });
    expect(upgraded.every(({ isRunning }) => isRunning)).to.equal(true);
  });
});
