import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { PULL_METRICS } from '../../scripts/reference/alerts.ts';
import { KeysFile, readKeys } from '../../src/keys/keys-file.ts';
import { ROOT } from '../support/command.ts';
import { freePort } from '../support/free-port.ts';
import { buildFile } from '../support/import-folder.ts';
import { needs } from '../support/components.ts';
import { byDepth } from '../support/depth.ts';
import { eventually } from '../support/eventually.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { smallImport } from '../support/small-import.ts';
import { folderForAll, folderForEach } from '../support/temporary-folder.ts';
import { type Built, buildSuccession, Machine } from './machine.ts';

/** Shell commands that damage the file `$0`. */
const DAMAGES = [
  'rm "$0"',
  'truncate -s -9 "$0"',
  'echo other | zstd -qfo "$0"',
  'printf damaged | dd of="$0" bs=1 seek=90 conv=notrunc status=none',
];

const ROUNDS = byDepth({ short: 4, deep: 24 });

describe('Distribution', () => {
  needs('rclone', 'zstd');
  const inSource = folderForAll();
  const inFolder = folderForEach();
  let built: Built[];
  let builder: Machine;
  let machine: Machine;

  before(async () => {
    built = await buildSuccession(inSource, [60, 59, 60, 10]);
  });

  beforeEach(() => {
    useStore(inFolder('all/store'));
  });

  function useStore(store: string, environment = {}): void {
    builder = new Machine(inFolder('all/builder'), store, environment);
    machine = new Machine(inFolder('all/machine'), store, environment);
  }

  const inStore = (name: string) => inFolder(`all/store/main/${name}`);
  const whole = (n: number) => inStore(`${built[n].id}.sqlite.zst`);
  const patch = (from: number, to: number) => inStore(`${built[from].id}..${built[to].id}.sqlite.zst`);
  const pin = (text: string) => {
    writeFileSync(inStore('pin'), text);
  };
  const push = (n: number, options = '') => builder.outputOf(`push ${built[n].file} --as main ${options}`);

  /** Pulls, and expects a snapshot to be published. Returns the output. */
  async function pull(n: number, warning?: RegExp): Promise<string> {
    const output = await machine.outputOf('pull', warning);
    expect(machine.publishedOf(built)).to.equal(built[n]);
    return output;
  }

  /** Pulls, and expects a failure with a line that says that a snapshot stays published. */
  async function failToPull(n: number, reason: RegExp, environment = {}): Promise<void> {
    const line = await machine.failureOf('pull', environment);
    expect(line).to.match(reason);
    expect(line).to.match(RegExp(`^pull: .*; ${built[n].id} stays published\n$`));
    expect(machine.publishedOf(built)).to.equal(built[n]);
  }

  /** Pushes and pulls the first snapshot, and pushes the second one. Returns a function that restores this state. */
  async function begin(): Promise<() => void> {
    await push(0);
    await pull(0);
    await push(1);
    const copy = (from: string, to: string) => {
      rmSync(inFolder(to), { recursive: true, force: true });
      cpSync(inFolder(from), inFolder(to), { recursive: true, preserveTimestamps: true });
    };
    copy('all', 'saved');
    return () => {
      copy('saved', 'all');
    };
  }

  /** Returns a disturbance that kills a program before its `n`th command, and logs the commands. */
  const killBefore = (n: number) =>
    `echo "$*" >>${inFolder('log')}; [ $(wc -l <${inFolder('log')}) -lt ${n} ] || kill -KILL 0`;
  const takeLog = () => {
    const log = readFileSync(inFolder('log'), 'utf8');
    rmSync(inFolder('log'));
    return log;
  };

  it('refuses to push what `publish` would refuse, and leaves the store as it is', async () => {
    await push(2);
    const store = readdirSync(inStore(''));
    await buildFile(smallImport(['south']), inFolder('south.sqlite'));
    writeFileSync(inFolder('damaged.sqlite'), readFileSync(built[2].file).subarray(0, 8192));
    for (const [file, reason] of [
      [built[1].file, /it was produced at .*, and the snapshot that it would replace .* --rollback/],
      [inFolder('south.sqlite'), /it lacks organization "north" of .* --allow-shrink/],
      [inFolder('damaged.sqlite'), /damaged\.sqlite: .* truncated/],
      [inFolder('absent.sqlite'), /No such file/],
    ] as const) {
      const line = await builder.failureOf(`push ${file} --as main`);
      expect(line).to.match(RegExp(`${reason.source}.*; nothing was pushed\n$`));
      expect(readdirSync(inStore(''))).to.deep.equal(store);
    }
    await push(1, '--rollback');
    await push(3, '--allow-shrink');
    await pull(3);
  });

  it('pushes nothing if the pointer names the file already', async () => {
    expect(await push(0)).to.equal(`main: pushed ${built[0].id}\n`);
    const pointer = readFileSync(inStore('pointer'), 'utf8');
    expect(await push(0)).to.equal('');
    expect(readFileSync(inStore('pointer'), 'utf8')).to.equal(pointer);
  });

  it('keeps the last snapshots in the store, and the pinned one', async () => {
    useStore(inFolder('all/store'), { KEEP: '2' });
    await push(0);
    pin(built[0].id);
    for (const n of [1, 2]) await push(n);
    const kept = () => [0, 1, 2].filter((n) => existsSync(whole(n)));
    expect(kept()).to.deep.equal([0, 1, 2]);
    rmSync(inStore('pin'));
    // What no pointer has is removed after a day.
    for (const file of [whole(0), inStore(`${built[0].id}.meta`)]) utimesSync(file, 0, 0);
    await push(1, '--rollback');
    expect(kept()).to.deep.equal([1, 2]);
    expect(existsSync(patch(1, 2))).to.equal(true);
    await push(3, '--allow-shrink');
    expect(kept()).to.deep.equal([1]);
    expect(existsSync(patch(1, 2))).to.equal(false);
  });

  it('compares a file with that in the pointer, also if another machine has pushed it', async () => {
    await push(0);
    const other = new Machine(inFolder('other'), inFolder('all/store'));
    await other.outputOf(`push ${built[2].file} --as main`);
    expect(existsSync(patch(0, 2))).to.equal(true);
    expect(await builder.failureOf(`push ${built[1].file} --as main`)).to.include('--rollback');
  });

  it('removes nothing of another push at the same time, of which at most one fails, and says so', async () => {
    await push(0);
    const other = new Machine(inFolder('all/other'), inFolder('all/store'));
    for (let round = 0; round < ROUNDS; round++) {
      const options = '--as main --rollback --allow-shrink';
      const ended = await Promise.all([
        builder.start(`push ${built[1 + (round % 2)].file} ${options}`).ended,
        other.start(`push ${built[3 - 3 * (round % 2)].file} ${options}`).ended,
      ]);
      const failures = ended.filter(({ code }) => code !== 0);
      expect(failures.length).to.be.below(2);
      for (const { stderr } of failures) expect(stderr).to.match(/another push has changed the pointer/);
      await machine.outputOf('pull', /^$/);
      expect(readFileSync(inStore('pointer'), 'utf8')).to.include(`id ${machine.publishedOf(built)?.id}\n`);
    }
  });

  it('writes the pointer again if two writes mixed, and fails if that of another push replaced it', async () => {
    await push(0);
    const pointer = inStore('pointer');
    const former = readFileSync(pointer);
    /** Returns a disturbance that runs a command once, after the pointer was written. */
    const onceWritten = (command: string) =>
      `case "$*" in copyto*/pointer) [ -e done ] || touch written ;; copy*) [ ! -e written ] || { mv written done; ${command}; } ;; esac`;
    const mixed = await builder.start(`push ${built[1].file} --as main`, onceWritten(`echo >>${pointer}`))
      .ended;
    expect(mixed).to.include({ code: 0, stderr: '' });
    await pull(1);
    rmSync(builder.inFolder('done'));
    writeFileSync(inFolder('other'), former);
    const replaced = onceWritten(`cp ${inFolder('other')} ${pointer}`);
    const { code, stderr } = await builder.start(`push ${built[2].file} --as main`, replaced).ended;
    expect(code).to.equal(1);
    expect(stderr).to.match(/another push has changed the pointer .*: push again; nothing was pushed\n$/);
    expect(readFileSync(pointer)).to.deep.equal(former);
  });

  it('pushes without a patch if memory is short', async () => {
    await push(0);
    const short = 'case "$*" in *--patch-from*) kill -KILL $$ ;; esac';
    const { code, stderr } = await builder.start(`push ${built[1].file} --as main`, short).ended;
    expect(code, stderr).to.equal(0);
    expect(existsSync(patch(0, 1))).to.equal(false);
    await pull(1);
  });

  it('begins anew without a pointer, though the file before it is damaged, and keeps what the store has', async () => {
    for (const n of [0, 1]) await push(n);
    // Times in a store have seconds.
    utimesSync(inStore(`${built[0].id}.meta`), 0, 0);
    writeFileSync(whole(1), 'damaged');
    const other = new Machine(inFolder('all/other'), inFolder('all/store'));
    const line = `push ${built[2].file} --as main`;
    expect(await other.failureOf(line)).to.match(/is cut or altered; nothing was pushed\n$/);
    rmSync(inStore('pointer'));
    await other.outputOf(line, /is cut or altered\n$/);
    expect(readFileSync(inStore('pointer'), 'utf8')).to.include(
      `\nkeeps ${[2, 1, 0].map((n) => built[n].id).join(' ')}\n`,
    );
    await pull(2);
  });

  it('erases by the recipe what a killed push left in the store', async () => {
    await push(0);
    // A text that only the second snapshot has.
    const person = 'offer 1';
    const killed = builder.start(
      `push ${built[1].file} --as main`,
      'case "$*" in copyto*/pointer) kill -KILL 0 ;; esac',
    );
    expect(await killed.ended).to.include({ signal: 'SIGKILL' });
    // The name of an upload in progress, in some stores.
    writeFileSync(`${whole(1)}.1a2b3c4d.partial`, person);
    await push(2);
    const page = readFileSync('docs/howto/erase-a-person.md', 'utf8');
    const [recipe = ''] = /^ *\(set -a .*?(?=\n *```)/ms.exec(page) ?? [];
    const run = (commands: string) => {
      const here = commands
        .replace('. /etc/foyer-store.env', ':')
        .replace('person@example.org', `'${person}'`);
      const env = { ...process.env, ...builder.environment };
      const options = { cwd: ROOT, env, encoding: 'utf8' } as const;
      return spawnSync('bash', ['-c', `as_feed() { "$@"; }; ${here}`], options);
    };
    expect(run(recipe.replace(/^.*--clean.*$/m, '')).stdout).to.equal('');
    const { stdout, stderr } = run(recipe);
    expect(stdout, stderr).to.equal('erased\n');
    const { id } = built[2];
    const inPointer = [patch(0, 2), whole(2), inStore(`${id}.meta`), inStore('pointer')];
    expect(readdirSync(inStore('')).map(inStore)).to.have.members(inPointer);
    const state = readdirSync(builder.inFolder('state/push/main'));
    expect(state).to.have.members([`${id}.sqlite`, 'last', 'lock', 'store']);
    // A store that cannot be read does not count as erased.
    rmSync(inFolder('all/store'), { recursive: true });
    expect(run(recipe).stdout).to.equal('');
  });

  it('lets a push begin anew after one that was killed before any of its commands', async () => {
    const restore = await begin();
    for (let n = 1, isKilled = true; isKilled; n++) {
      const { ended } = builder.start(`push ${built[3].file} --as main --allow-shrink`, killBefore(n));
      isKilled = (await ended).signal === 'SIGKILL';
      takeLog();
      const isPushed = readFileSync(inStore('pointer'), 'utf8').includes(`id ${built[3].id}\n`);
      // The killed one is newer.
      if (!isPushed) await push(2);
      expect(existsSync(patch(1, 2))).to.equal(!isPushed);
      await pull(isPushed ? 3 : 2);
      restore();
    }
  });

  it('takes the whole file first, then patches', async () => {
    await begin();
    rmSync(whole(1));
    expect(await pull(1)).to.equal(`main: published ${built[1].id}\n`);
    expect(await pull(1), 'nothing to do').to.equal('');
  });

  it('takes the whole file, and says so, if the patch or its base is missing, cut or altered', async () => {
    const restore = await begin();
    const base = machine.inFolder(`state/pull/main/${built[0].id}.sqlite`);
    for (const [file, damage] of [...DAMAGES.map((one) => [patch(0, 1), one]), [base, DAMAGES[3]]]) {
      execFileSync('sh', ['-c', damage, file]);
      await pull(1, /^pull: [^\n]*\.\.[^\n]*\.zst was not received, or is cut or altered\n$/);
      restore();
    }
  });

  it('keeps the published file, and says so, if the pointer or the whole file is missing, cut or altered', async () => {
    const restore = await begin();
    for (const damage of DAMAGES) {
      for (const file of [inStore('pointer'), whole(1)]) {
        rmSync(patch(0, 1));
        execFileSync('sh', ['-c', damage, file]);
        await failToPull(0, /pointer is missing, cut or altered|was not received, or is cut or altered/);
        await push(2);
        await pull(2);
        restore();
      }
    }
  });

  it('keeps the published file on a full disk, and leaves no remains', async () => {
    await begin();
    const used = () => parseInt(execFileSync('du', ['-sb', machine.inFolder('')], { encoding: 'utf8' }));
    const before = used();
    await failToPull(0, /File too large/, { FILE_BLOCKS: '20' });
    expect(used() - before).to.be.below(2000);
    await pull(1);
  });

  it('follows a pointer that changes midway, although the first file is removed', async () => {
    useStore(inFolder('all/store'), { KEEP: '1' });
    await push(0);
    const variables = Object.entries(builder.environment).map(([name, value]) => `${name}='${value}'`);
    const pushing = `env ${variables.join(' ')} DISTURBANCE= ${builder.programs}/push ${built[1].file} --as main`;
    const { code, stderr } = await machine.start('pull', `case "$*" in cat*) ${pushing} >&2 ;; esac`).ended;
    expect(code, stderr).to.equal(0);
    expect(machine.publishedOf(built)).to.equal(built[1]);
  });

  it('refuses a pointer that was pushed before one that it followed', async () => {
    await begin();
    const stale = readFileSync(inStore('pointer'));
    await delay(1000 - (Date.now() % 1000)); // The time of a push has seconds.
    await push(2);
    await pull(2);
    writeFileSync(inStore('pointer'), stale);
    await failToPull(2, /the pointer was pushed at .*, before one that was followed/);
  });

  it('follows a pin until it is removed, and shows it', async () => {
    await begin();
    await push(2);
    const metrics = () => readFileSync(machine.inFolder('pull.prom'), 'utf8');
    pin(`${built[1].id}\n`);
    await pull(1);
    expect(metrics()).to.include(`foyer_pull_pinned_info{file="main",id="${built[1].id}"} 1\n`);
    for (const [name, { type, help }] of Object.entries(PULL_METRICS))
      expect(metrics()).to.include(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name}{file="main"`);
    const state = () => readdirSync(machine.inFolder('state'), { recursive: true });
    const before = state();
    expect(await machine.outputOf('pull --inspect')).to.equal(
      `main followed ${built[1].id} 2026-01-02T00:00:00.000Z\n` +
        `main pointer ${built[2].id} 2026-01-03T00:00:00.000Z\nmain pin ${built[1].id}\n`,
    );
    expect(state()).to.deep.equal(before);
    for (const text of ['yesterday', built[0].id.replace(/^./, 'x'), '../main', '']) {
      pin(text);
      await failToPull(1, /the pin is /);
    }
    rmSync(inStore('pin'));
    await pull(2);
    expect(metrics()).to.not.include('pinned_info');
  });

  it('replaces a file that was published or removed by others, by its own copy', async () => {
    await push(0);
    await pull(0);
    rmSync(whole(0));
    for (const replacement of [built[1].file, undefined]) {
      rmSync(machine.inFolder('snapshots/main.sqlite'));
      if (replacement !== undefined) cpSync(replacement, machine.inFolder('snapshots/main.sqlite'));
      await pull(0);
    }
  });

  it('pulls each name, although another one fails, and measures both', async () => {
    await push(0);
    const line = await machine.failureOf('pull absent main');
    expect(line).to.match(
      /^pull: \S+\/absent: no such folder; the store has: main; nothing stays published\n$/,
    );
    expect(machine.publishedOf(built)).to.equal(built[0]);
    expect(readFileSync(machine.inFolder('pull.prom'), 'utf8'))
      .to.include('foyer_pull_failed{file="absent"} 1\nfoyer_pull_failed{file="main"} 0\n')
      .and.match(/^foyer_pull_last_success_timestamp_seconds\{file="main"\} \d{10}$/m)
      .and.include(`foyer_pull_followed_info{file="main",id="${built[0].id}"} 1\n`);
  });

  it('continues after it was killed before any of its commands, and downloads no verified file again', async () => {
    const restore = await begin();
    for (let n = 1, isKilled = true; isKilled; n++) {
      isKilled = (await machine.start('pull', killBefore(n)).ended).signal === 'SIGKILL';
      expect(machine.publishedOf(built)).to.be.oneOf([built[0], built[1]]);
      // A verified file is renamed from `part`. The last command of the log did not run.
      const isVerified = /\/part .*\n.*\n/.test(takeLog());
      await machine.start('pull', killBefore(1e6)).ended;
      expect(machine.publishedOf(built)).to.equal(built[1]);
      expect(/^cat/m.test(takeLog()), 'download').to.equal(!isVerified);
      restore();
    }
  });

  it('names a missing or wrong variable or argument in one line', async () => {
    const foreign = process.getuid?.() === 0 ? inFolder('foreign') : '/';
    if (foreign !== '/') mkdirSync(foreign);
    if (foreign !== '/') chownSync(foreign, 65_534, 65_534);
    for (const [line, environment, message] of [
      ['push x.sqlite', { STORE: '' }, 'STORE is not set'],
      ['pull', { STATE_DIR: '/absent' }, 'STATE_DIR is /absent: no such folder'],
      ['pull', { SNAPSHOT_DIR: '' }, 'SNAPSHOT_DIR is not set'],
      ['pull --keys', { KEYS_FILE: '' }, 'KEYS_FILE is not set'],
      ['push x.sqlite', { KEEP: '0' }, 'KEEP is "0": it must be a whole number from 1'],
      ['push x.sqlite --force', {}, '--force is not an option'],
      ['push x.sqlite --as keys', {}, 'give a snapshot file, and a name that is not keys'],
      ['push x/keys.sqlite', {}, 'give a snapshot file, and a name that is not keys'],
      ['pull main keys', {}, 'keys are pulled by --keys'],
      ['pull --keys', { KEYS_FILE: '/absent/keys' }, 'KEYS_FILE is /absent/keys: no such folder'],
      ['pull --key', {}, `"--key" is not a name of letters, digits, '.', '_' and '-', without .sqlite`],
      ['pull', { STATE_DIR: foreign }, /^pull: STATE_DIR is .*: run as its owner, \w+;/],
    ] as const) {
      const program = line.slice(0, 4);
      const { code, stderr } = await machine.start(line, '', environment).ended;
      expect(code, stderr).to.equal(2);
      if (typeof message !== 'string') expect(stderr).to.match(message);
      else expect(stderr).to.equal(`${program}: ${message}; see ${program} --help\n`);
    }
  });

  it('works through a store by network, with the documented commands for pins', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const far = { RCLONE_CONFIG: '/dev/null', RCLONE_CONFIG_FAR_TYPE: 'webdav', RCLONE_CONFIG_FAR_URL: url };
    const shell = (command: string) =>
      execFileSync('sh', ['-c', command], { env: { ...process.env, ...far, STORE: 'far:foyer' } });
    mkdirSync(inFolder('far'));
    const options = ['--addr', `127.0.0.1:${port}`, '--config', '/dev/null'];
    using server = spawn('rclone', ['serve', 'webdav', inFolder('far'), ...options], { stdio: 'ignore' });
    const isUp = () => fetch(url, { method: 'OPTIONS' }).catch(() => undefined);
    await eventually(async () => (await isUp()) !== undefined);
    useStore('far:foyer', far);
    await begin();
    expect(await machine.failureOf('pull absent')).to.match(/no such folder; the store has: main; /);
    rmSync(inFolder(`far/foyer/main/${built[1].id}.sqlite.zst`));
    await pull(1);
    shell(`echo ${built[0].id} | rclone rcat $STORE/main/pin`);
    await pull(0);
    await push(2);
    shell('rclone deletefile $STORE/main/pin');
    await pull(2);
    // The store knows no digests of its files.
    const file = inFolder(`far/foyer/main/${built[2].id}.sqlite.zst`);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.toReversed());
    shell('rclone deletefile $STORE/main/pointer');
    await push(2);
    expect(readFileSync(file)).to.deep.equal(bytes);
    server.kill();
    await once(server, 'exit');
    await failToPull(2, /connection refused/);
  });

  it('brings a revocation into force while the data is pinned, and while a pull of data hangs', async () => {
    const credential = newCredential(builder.inFolder, 'north');
    await builder.outputOf('push --keys');
    await machine.outputOf('pull --keys');
    expect(statSync(machine.inFolder('keys.sqlite')).mode & 0o777).to.equal(0o640);
    await begin();
    await push(2);
    await using replica = await ReplicaUnderTest.startReady(machine.inFolder);
    const statusOf = async () => (await replica.request('/v1/events', credential)).status;
    const live = (n: number) => replica.waitForLog({ msg: 'snapshot live', snapshotId: built[n].id });
    expect(await statusOf()).to.equal(200);
    pin(built[1].id);
    await pull(1);
    await live(1);
    rmSync(inStore('pin'));
    const hanging = machine.start('pull', 'case "$*" in cat*) touch "$STATE_DIR/hangs"; sleep 1000 ;; esac');
    await eventually(() => existsSync(machine.inFolder('state/hangs')));
    const keys = new KeysFile(builder.inFolder('keys.sqlite'));
    keys.revoke(keys.list()[0].keyId, new Date());
    expect(await builder.outputOf('push --keys')).to.match(/^keys: pushed /);
    expect(await builder.outputOf('push --keys'), 'unchanged').to.equal('');
    await machine.outputOf('pull --keys');
    await eventually(async () => (await statusOf()) === 403);
    hanging.kill();
    expect(await hanging.ended).to.include({ signal: 'SIGKILL' });
    await pull(2);
    await live(2);
    expect(await statusOf()).to.equal(403);
  });

  it('copies the keys file consistently while it is written', async () => {
    const keys = new KeysFile(builder.inFolder('keys.sqlite'));
    const create = () => keys.create('north', '', new Date());
    create();
    const writing = setInterval(create, 1);
    await builder.outputOf('push --keys');
    clearInterval(writing);
    await machine.outputOf('pull --keys');
    expect(readKeys(machine.inFolder('keys.sqlite')).length).to.be.within(1, keys.list().length);
  });
});
