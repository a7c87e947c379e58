import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { FORMAT_VERSION } from '../../src/snapshot/format/schema.ts';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { writeImport } from '../support/import-folder.ts';
import { times } from '../support/records.ts';
import { newCredential } from '../support/replica-under-test.ts';
import { smallImport } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { Fleet, type Member, receivesRequests, whileWalking } from './fleet.ts';
import { Machine } from './machine.ts';

const ORGANIZATIONS = times(8, (i) => `org-${i}`);
const TICKETS = 60;

type Version = 'old' | 'new';

describe('A fleet whose next version reads another format of snapshot files', () => {
  needs('haproxy', 'openssl', 'rclone', 'zstd');
  const inFolder = folderForAll();
  /** A file in the installation of a version. */
  const inRoot = (version: Version, name: string) =>
    version === 'old' ? join(ROOT, name) : inFolder(`installed/${name}`);
  /** A machine with a version. Each version has a store of its own. */
  const machine = (version: Version, folder: string, store = version) =>
    new Machine(folder, inFolder(`store-${store}`), {}, inRoot(version, 'deploy/distribute'));
  let credentials: string[];
  let fleet: Fleet;

  before(async () => {
    install();
    credentials = ORGANIZATIONS.map((id) => newCredential(inFolder, id));
    writeImport(inFolder('import'), smallImport(ORGANIZATIONS));
    for (const version of ['old', 'new'] as const) {
      const file = inFolder(`${version}.sqlite`);
      const build = ['build', '--input', inFolder('import'), '--output', file];
      execFileSync(process.execPath, [inRoot(version, 'scripts/snapshot.ts'), ...build], { stdio: 'pipe' });
      await machine(version, inFolder(`builder-${version}`)).outputOf(`push ${file} --as main`);
    }
    for (const id of [1, 2]) await machine('old', inFolder(`replica-${id}`)).outputOf('pull main');
    fleet = await Fleet.start({ program: 'haproxy', shards: [2], inFolder, place: () => undefined });
  });

  after(() => fleet[Symbol.asyncDispose]());

  /** Installs the next version, which differs in the number of its format. */
  function install(): void {
    for (const name of ['src', 'scripts', 'data/schema.sql', 'data/keys.sql', 'deploy', 'package.json'])
      cpSync(join(ROOT, name), inRoot('new', name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), inRoot('new', 'node_modules'));
    const schema = inRoot('new', 'data/schema.sql');
    const version = (number: number) => `user_version = ${number}`;
    const text = readFileSync(schema, 'utf8');
    writeFileSync(schema, text.replace(version(FORMAT_VERSION), version(FORMAT_VERSION + 1)));
  }

  /** Starts the next version in place of a replica, with the same keys, and waits until the proxy uses it. */
  async function upgrade(member: Member): Promise<void> {
    const inNew = (name: string) => member.inFolder(`new/${name}`);
    await machine('new', inNew('')).outputOf('pull main');
    await member.end('SIGTERM');
    await member.start(inNew, [process.execPath, inRoot('new', 'src/main.ts')]);
    await receivesRequests(member.process);
  }

  it('keeps the live data where a machine pulls from the store of the other version', async () => {
    const [{ inFolder: inOwn }] = fleet.members;
    const live = readFileSync(inOwn('snapshots/main.sqlite'));
    expect(await machine('old', inOwn(''), 'new').failureOf('pull main')).to.match(/^pull: .*format/);
    expect(readFileSync(inOwn('snapshots/main.sqlite')).equals(live)).to.equal(true);
  });

  it('is upgraded replica by replica without a gap', async () => {
    const walked = credentials.map((credential) => ({ credential, tickets: TICKETS }));
    const repeats = await whileWalking(fleet, walked, async (walks) => {
      for (const member of fleet.members) {
        await upgrade(member);
        await walks(30);
      }
    });
    expect(repeats).to.deep.equal({ broken: 0, later: 0 });
    expect(fleet.members.every(({ process }) => process.isRunning)).to.equal(true);
  });
});
