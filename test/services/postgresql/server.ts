import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { INHERITED, ROOT } from '../../support/command.ts';
import type { InFolder } from '../../support/temporary-folder.ts';

const PROGRAMS = '/usr/lib/postgresql/15/bin';
export const EXAMPLE = join(ROOT, 'examples/postgresql');

/** A server on a socket in a temporary folder, without TCP, and its empty database `ticketing`. */
export class DatabaseServer {
  /** The variables by which clients find the database. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #process: ChildProcessByStdio<null, null, Readable>;

  private constructor(
    folder: string,
    process: ChildProcessByStdio<null, null, Readable>,
    database = 'ticketing',
  ) {
    this.#process = process;
    this.environment = { PGHOST: folder, PGUSER: 'foyer', PGDATABASE: database };
  }

  static async start(inFolder: InFolder): Promise<DatabaseServer> {
    const folder = inFolder('postgresql');
    mkdirSync(folder);
    const owner = ownerOfServer();
    if (owner !== undefined) {
      chmodSync(inFolder(''), 0o711);
      chownSync(folder, owner.uid, owner.gid);
    }
    const options = { cwd: folder, env: { ...INHERITED, LC_ALL: 'C.UTF-8' }, ...owner };
    const data = join(folder, 'data');
    const initialization = ['-D', data, '-U', 'foyer', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
    execFileSync(join(PROGRAMS, 'initdb'), initialization, { ...options, stdio: 'pipe' });
    const settings = ['listen_addresses=', `unix_socket_directories=${folder}`, 'fsync=off', 'jit=off'];
    const server = spawn(
      join(PROGRAMS, 'postgres'),
      ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
      { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    await readyLine(server.stderr);
    server.stderr.resume();
    const { environment } = new DatabaseServer(folder, server, 'postgres');
    execFileSync('psql', ['-qc', 'CREATE DATABASE ticketing'], { env: { ...INHERITED, ...environment } });
    return new DatabaseServer(folder, server);
  }

  /** Runs psql with these arguments. Returns its output. */
  async psql(args: readonly string[], cwd = ROOT): Promise<string> {
    const client = spawn('psql', ['--no-psqlrc', '--quiet', '-v', 'ON_ERROR_STOP=1', ...args], {
      cwd,
      env: { ...INHERITED, ...this.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr] = await Promise.all([
      text(client.stdout),
      text(client.stderr),
      once(client, 'close'),
    ]);
    if (client.exitCode !== 0) throw new Error(`psql ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Returns the values of a query of one row, which psql separates by `|`. */
  async valuesOf(query: string): Promise<string[]> {
    return (await this.psql(['-At', '-c', query])).trim().split('|');
  }

  /** Ends the server at once. */
  async end(): Promise<void> {
    this.#process.kill('SIGQUIT');
    await once(this.#process, 'exit');
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

async function readyLine(log: Readable): Promise<void> {
  let lines = '';
  for await (const line of createInterface({ input: log })) {
    lines += `${line}\n`;
    if (line.includes('ready to accept connections')) return;
  }
  throw new Error(`PostgreSQL did not start:\n${lines}`);
}
/** What `export.sql` prints for the next feed. */
export interface Exported {
  readonly extent: string;
  readonly source: string;
  readonly since: string;
}

/** Writes an import folder: everything, or the changes since an export. */
export async function exportLines(
  server: DatabaseServer,
  folder: string,
  source = '',
  since = '',
): Promise<Exported> {
  mkdirSync(folder, { recursive: true });
  const variables = ['-v', `source=${source}`, '-v', `since=${since}`];
  const printed = await server.psql([...variables, '-f', join(EXAMPLE, 'export.sql')], folder);
  const [extent = '', nextSource = '', nextSince = ''] = printed.trim().split(' ');
  return { extent, source: nextSource, since: nextSince };
}
