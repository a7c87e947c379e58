import { type ChildProcessByStdio, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { DEFAULT_SAMPLE, writeSample } from '../../../scripts/sample/write-sample.ts';
import { COLLECTION_NAMES } from '../../../src/contract/resources.ts';
import { Command, type Ended, INHERITED, ROOT } from '../../support/command.ts';
import type { InFolder } from '../../support/temporary-folder.ts';

const PROGRAMS = '/usr/lib/postgresql/15/bin';
export const EXAMPLE = join(ROOT, 'examples/postgresql');

export interface ServerOptions {
  /** Name of its folder. */
  readonly name?: string;
  /** The server to copy, as by a base backup. */
  readonly origin?: DatabaseServer;
  /** Whether it follows the origin until it is promoted. */
  readonly isStandby?: boolean;
  /** A file with the offset of its clock, such as `+1h`. */
  readonly clock?: string;
}

/** A server on a socket in a temporary folder, without TCP, and the database of the example in it. */
export class DatabaseServer {
  /** The variables by which clients find the database. */
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly #owner = ownerOfServer();
  readonly #clock: string | undefined;
  #pid = 0;

  /** Starts a server with an empty database, or with a copy. */
  constructor(inFolder: InFolder, options: ServerOptions = {}) {
    const { name = 'postgresql', origin, isStandby = false } = options;
    this.folder = inFolder(name);
    this.#clock = options.clock;
    mkdirSync(this.folder);
    if (this.#owner !== undefined) {
      chmodSync(inFolder(''), 0o711);
      chownSync(this.folder, this.#owner.uid, this.#owner.gid);
    }
    this.environment = { PGHOST: this.folder, PGUSER: 'foyer', PGDATABASE: 'postgres' };
    if (origin === undefined)
      this.#run('initdb', '-D', 'data', '-U', 'foyer', '-A', 'trust', '-E', 'UTF8', '--no-sync');
    else {
      const standby = isStandby ? ['--write-recovery-conf'] : [];
      this.#run('pg_basebackup', '-D', 'data', '-h', origin.folder, '-U', 'foyer', '-c', 'fast', ...standby);
    }
    this.start();
  }

  start(): void {
    const settings = `-c listen_addresses= -c unix_socket_directories=${this.folder} -c fsync=off -c jit=off -c wal_level=logical`;
    this.#run('pg_ctl', '-D', 'data', 'start', '--wait', '--silent', '--log=log', '--options', settings);
    this.#pid = parseInt(readFileSync(join(this.folder, 'data/postmaster.pid'), 'utf8'));
  }

  stop(): void {
    this.#run('pg_ctl', '-D', 'data', 'stop', '--wait', '--silent', '--mode=immediate');
  }

  promote(): void {
    this.#run('pg_ctl', '-D', 'data', 'promote', '--wait', '--silent');
  }

  /** Puts the data folder, of a stopped server, in another place. */
  copyData(from: string, to: string): void {
    rmSync(join(this.folder, to), { recursive: true, force: true });
    this.#run('/usr/bin/cp', '--archive', '--reflink=auto', from, to);
  }

  #run(program: string, ...args: readonly string[]): void {
    const faked = this.#clock !== undefined && {
      LD_PRELOAD: '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
      FAKETIME_TIMESTAMP_FILE: this.#clock,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    const env = { ...INHERITED, LC_ALL: 'C.UTF-8', ...faked };
    const options = { cwd: this.folder, env, stdio: 'ignore', ...this.#owner } as const;
    execFileSync(resolve(PROGRAMS, program), args, options);
  }

  /** Creates the tables, views and triggers of the example. */
  async create(): Promise<void> {
    for (const name of ['schema', 'views', 'changes']) await this.psql(['-f', join(EXAMPLE, `${name}.sql`)]);
  }

  /** Fills the tables with a sample. Its import folder is `sample`. */
  async load(inFolder: InFolder, size: { readonly events: number; readonly tickets: number }): Promise<void> {
    await writeSample({ ...DEFAULT_SAMPLE, organizations: 2, ...size, output: inFolder('sample') });
    await this.psql(['-f', join(EXAMPLE, 'load.sql')], inFolder('sample'));
  }

  /** Runs psql with these arguments. Returns its output. */
  async psql(args: readonly string[], cwd = ROOT): Promise<string> {
    const words = ['--no-psqlrc', '--quiet', '-v', 'ON_ERROR_STOP=1', ...args];
    const options = { cwd, env: { ...INHERITED, ...this.environment }, maxBuffer: Infinity };
    return (await promisify(execFile)('psql', words, options)).stdout;
  }

  /** Runs a program of the example. */
  run(program: string, args: readonly string[] = [], environment = {}): Promise<Ended> {
    const command = [join(EXAMPLE, program), ...args];
    return new Command('', [], { ...this.environment, ...environment }, { command }).ended;
  }

  /** Returns the values of a query of one row, which psql separates by `|`. */
  async valuesOf(query: string): Promise<string[]> {
    return (await this.psql(['-At', '-c', query])).trim().split('|');
  }

  /** Ends the server at once. */
  [Symbol.dispose](): void {
    process.kill(this.#pid, 'SIGQUIT');
  }
}

/** A connection of psql that runs statements one after the other. */
export class DatabaseSession {
  readonly #client: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string, undefined>;

  constructor(server: DatabaseServer) {
    this.#client = spawn('psql', ['--no-psqlrc', '--quiet', '-At'], {
      env: { ...INHERITED, ...server.environment },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#lines = createInterface({ input: this.#client.stdout })[Symbol.asyncIterator]();
  }

  /** Runs statements. Returns whether the last one succeeded, as none does after an error in a transaction. */
  async run(statements: string): Promise<boolean> {
    this.#client.stdin.write(`${statements};\n\\echo error :ERROR\n`);
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) throw new Error(`psql ended at: ${statements}`);
      if (value.startsWith('error ')) return value === 'error false';
    }
  }

  /** Closes the connection. An open transaction is rolled back. */
  async end(): Promise<void> {
    this.#client.stdin.end();
    await once(this.#client, 'close');
  }
}

/** Returns the user that a server runs as, since it refuses root; undefined for the current one. */
function ownerOfServer(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const numberOf = (option: string) =>
    Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: numberOf('-u'), gid: numberOf('-g') };
}

/** What `export.sql` prints: the token of the export, and why it has everything; empty if it has changes. */
interface Exported {
  readonly token: string;
  readonly reason: string;
}

/** Writes an import folder: everything, or the changes since an export if they are known. */
export async function exportLines(server: DatabaseServer, folder: string, last = ''): Promise<Exported> {
  mkdirSync(folder, { recursive: true });
  const variables = { last, requested: last === '' ? 'all' : '', after: '' };
  const options = Object.entries(variables).flatMap(([name, value]) => ['-v', `${name}=${value}`]);
  const printed = await server.psql([...options, '-At', '-f', join(EXAMPLE, 'export.sql')], folder);
  const [, , token = '', reason = ''] = /^(\S+) (\S+) \S+ ?(.*)\n$/.exec(printed) ?? [];
  return { token, reason };
}

/** Ends an export, so that others can continue from it. */
export async function completeExport(server: DatabaseServer, token: string): Promise<void> {
  await server.psql(['-c', `SELECT feed.complete('${token}', '')`]);
}

/** Statements that put a condition into each view: a line of an organization in the table `hidden` does not appear. */
export const HIDING = ['organizations', ...COLLECTION_NAMES].flatMap((name) => [
  `ALTER VIEW feed.${name} RENAME TO all_${name}`,
  `CREATE VIEW feed.${name} AS SELECT * FROM feed.all_${name}
   WHERE ${name === 'organizations' ? 'id' : 'organization_id'} NOT IN (SELECT id FROM hidden)`,
]);

/** The programs that a feed starts one after the other, some of them again. It starts the build by `env`. */
const PROGRAMS_OF_FEED = ['psql', 'env', 'mv'];

/** A feed of a database that can be killed at each step, with its files in a folder. */
export class Feed {
  readonly #server: DatabaseServer;
  readonly #folder: string;

  constructor(server: DatabaseServer, folder: string) {
    this.#server = server;
    this.#folder = folder;
    for (const name of ['programs', 'snapshots']) mkdirSync(join(folder, name), { recursive: true });
    for (const name of PROGRAMS_OF_FEED)
      symlinkSync(join(import.meta.dirname, 'killing-program.sh'), join(folder, 'programs', name));
  }

  /** Runs it. `KILL` names the step at which it is killed. */
  async run(
    environment: Readonly<Record<string, string>> = {},
    options: readonly string[] = [],
  ): Promise<Ended> {
    const inFolder = (name: string) => join(this.#folder, name);
    writeFileSync(inFolder('steps'), '0');
    const child = spawn(join(EXAMPLE, 'feed.sh'), options, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...INHERITED,
        ...this.#server.environment,
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
}
