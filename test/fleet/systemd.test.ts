import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { INHERITED, ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { build } from '../support/import-folder.ts';
import { placeSample, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const UNITS = join(ROOT, 'deploy/systemd');
const SERVICES = globSync('*.service', { cwd: UNITS });

describe('The units of deploy/systemd', () => {
  needs('systemd');
  const inFolder = folderForAll();

  for (const name of SERVICES)
    it(`expose at most 2.0 by systemd-analyze security: ${name}`, () => {
      const args = ['security', '--offline=true', '--threshold=20', '--no-pager', join(UNITS, name)];
      const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
      expect(status, stdout).to.equal(0);
      expect(stdout).to.match(/Overall exposure level for \S+: [01]\.\d/);
    });

  it('have only settings that systemd knows', () => {
    const units = globSync(join(UNITS, '*.{service,timer}'));
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], { encoding: 'utf8' });
    // The programs are not installed here.
    expect(stderr.replaceAll(/^\S+: Command \S+ is not executable: .*\n/gm, '')).to.equal('');
  });

  it('create folders that one user writes, and the group of the process reads', () => {
    mkdirSync(inFolder('etc'));
    for (const [program = '', ...options] of [['sysusers'], ['tmpfiles', '--create']]) {
      const args = [...options, `--root=${inFolder('')}`, join(UNITS, `${program}.conf`)];
      execFileSync(`systemd-${program}`, args, { stdio: 'ignore' });
    }
    const users = readFileSync(inFolder('etc/passwd'), 'utf8');
    const [, uid, gid] = /^foyer-feed:x:(\d+):(\d+):/m.exec(users)?.map(Number) ?? [];
    expect(users).to.match(new RegExp(`^foyer:x:\\d+:${gid}:`, 'm'));
    for (const name of ['keys', 'snapshots']) {
      const found = statSync(inFolder(`var/lib/foyer/${name}`));
      expect(found).to.include({ uid, gid });
      expect(found.mode & 0o7777).to.equal(0o2750);
    }
  });
});

// Only root can become another user and mount folders.
(process.getuid?.() === 0 ? describe : describe.skip)('Under the restrictions of its unit', () => {
  needs('bubblewrap', 'libseccomp for Python', 'systemd');
  const inFolder = folderForAll();
  const environment = {
    SNAPSHOT_DIR: '/var/lib/foyer/snapshots',
    KEYS_FILE: '/var/lib/foyer/keys.sqlite',
    THREADS: '2',
    // A request after the signal is answered within it.
    SHUTDOWN_DELAY_SECONDS: '1',
  };
  let credential: string;

  before(async () => {
    mkdirSync(inFolder('snapshots'));
    credential = await placeSample(inFolder);
    // Like files of another user who publishes.
    execFileSync('chgrp', ['--recursive', 'nogroup', inFolder('')]);
    execFileSync('chmod', ['--recursive', 'g+rXs', inFolder('')]);
  });

  /** Returns a command line that runs a command as a unit would, by default its own. */
  function asUnit(name: string, ...command: readonly string[]): string[] {
    const [, line = ''] = /^ExecStart=([^$\n]*)/m.exec(readFileSync(join(UNITS, name), 'utf8')) ?? [];
    const own = command.length === 0 ? line.trim().split(' ') : command;
    return ['/usr/bin/python3', join(import.meta.dirname, 'as-unit.py'), name, inFolder(''), ...own];
  }

  function run([program = '', ...args]: readonly string[], variables = {}) {
    return spawnSync(program, args, { env: { ...INHERITED, ...variables }, encoding: 'utf8' });
  }

  it('a process starts, swaps, compresses and drains', async () => {
    const command = asUnit('foyer.service');
    await using replica = await ReplicaUnderTest.startReady(inFolder, environment, { command });
    const get = () => replica.request('/v1/events', credential, { 'Accept-Encoding': 'gzip' });
    expect(await get()).to.nested.include({ status: 200, 'headers.content-encoding': 'gzip' });

    const lines = replica.log.length;
    await build('data/sample', inFolder('next.sqlite'));
    const publish = ['scripts/snapshot.ts', 'publish', inFolder('next.sqlite'), '--as', 'sample'];
    const env = { ...INHERITED, SNAPSHOT_DIR: inFolder('snapshots') };
    execFileSync(process.execPath, publish, { cwd: ROOT, env, stdio: 'pipe' });
    await replica.waitForLog({ msg: 'snapshot live' }, lines);

    const { pid } = await replica.waitForLog({ msg: 'listening' });
    process.kill(Number(pid), 'SIGTERM');
    await replica.waitForLog({ msg: 'stopping' });
    expect(await get()).to.nested.include({ status: 200, 'headers.connection': 'close' });
    expect(await replica.ended).to.include({ code: 0 });
  });

  for (const call of ['clone', 'epoll_pwait', 'futex', 'pread64'])
    it(`a process does not start if the filter lacks ${call}`, async () => {
      const variables = { ...environment, WITHOUT: call };
      const started = ReplicaUnderTest.startReady(inFolder, variables, { command: asUnit('foyer.service') });
      const end = (replica: ReplicaUnderTest) => replica.end();
      expect(await started.then(end, String)).to.include('the replica ended without log line');
    });

  it('a process cannot write files, see other processes, or gain privileges', () => {
    const attempt = (script: string) => run(asUnit('foyer.service', '/bin/sh', '-c', script)).status;
    expect(attempt('cat /opt/foyer/package.json /var/lib/foyer/keys.sqlite')).to.equal(0);
    for (const name of SERVICES) expect(run(asUnit(name, '/bin/true')), name).to.include({ status: 0 });
    for (const script of [
      'touch /opt/foyer/new || touch /var/lib/foyer/snapshots/new',
      'cat /proc/1/status || cat /proc/meminfo',
      'unshare --user true || setpriv --reuid=0 true',
      `python3 -c 'import socket; socket.socket(socket.AF_UNIX)'`,
      `grep -E '^Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]|^(NoNewPrivs|Seccomp):[[:space:]]0' /proc/self/status`,
    ])
      expect(attempt(script), script).to.not.equal(0);
  });

  it('a pull publishes a snapshot and keys', () => {
    for (const folder of ['pushed', 'store', 'state', 'pulled']) mkdirSync(inFolder(folder));
    const variablesIn = (folder: string, state: string, keys: string) => ({
      KEYS_FILE: join(folder, keys),
      SNAPSHOT_DIR: join(folder, 'pulled'),
      STATE_DIR: join(folder, state),
      STORE: join(folder, 'store'),
    });
    const env = { ...INHERITED, ...variablesIn(inFolder(''), 'pushed', 'keys.sqlite') };
    for (const args of [[inFolder('snapshots/sample.sqlite'), '--as', 'main'], ['--keys']])
      execFileSync('deploy/distribute/push', args, { cwd: ROOT, env });
    execFileSync('chown', ['--recursive', 'nobody', inFolder('')]);
    const variables = variablesIn('/var/lib/foyer', 'state', 'pulled/keys.sqlite');
    for (const name of ['foyer-pull.service', 'foyer-pull-keys.service']) {
      const { status, stderr } = run(asUnit(name), variables);
      expect(status, stderr).to.equal(0);
    }
    expect(globSync('*', { cwd: inFolder('pulled') })).to.have.members(['keys.sqlite', 'main.sqlite']);
  });
});
