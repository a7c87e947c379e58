import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { type Ended, INHERITED, ROOT } from '../support/command.ts';
import { buildFile, digestsOf } from '../support/import-folder.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import type { Environment } from '../support/replica-under-test.ts';
import { smallImport } from '../support/small-import.ts';
import type { InFolder } from '../support/temporary-folder.ts';

const PROGRAMS = join(ROOT, 'deploy/distribute');

/** Commands of the programs that run a disturbance first. */
const DISTURBED = ['cp', 'mv', 'rclone', 'zstd'];
const WRAPPER = '#!/bin/sh\neval "$DISTURBANCE"\nunset DISTURBANCE\nPATH=${PATH#*:} exec "${0##*/}" "$@"\n';

export interface Built {
  readonly file: string;
  readonly id: string;
  /** The digests of all lists. */
  readonly content: string;
}

/** Builds snapshots of `north` with these numbers of tickets, each a successor of the one before it. */
export async function buildSuccession(inFolder: InFolder, ticketCounts: readonly number[]): Promise<Built[]> {
  const built: Built[] = [];
  for (const [n, count] of ticketCounts.entries()) {
    const all = smallImport(['north']);
    const tickets = all.tickets.slice(0, count).map((ticket) => ({ ...ticket, offerName: `offer ${n}` }));
    const file = inFolder(`snapshot-${n}.sqlite`);
    const producedAt = new Date(Date.UTC(2026, 0, 1 + n));
    await buildFile({ ...all, tickets }, file, { producedAt, previous: built.at(-1)?.file });
    built.push({ file, id: inspectSnapshot(file).snapshotId, content: contentOf(file) });
  }
  return built;
}

/** Checks a snapshot file as the loader does. Returns the digests of its lists. */
function contentOf(file: string): string {
  return JSON.stringify(digestsOf(readSnapshot(file)));
}

/** A machine that pushes to a store, or pulls from it, by the programs of deploy/distribute. */
export class Machine {
  readonly inFolder: InFolder;
  readonly environment: Environment;
  readonly programs: string;

  constructor(folder: string, store: string, environment: Environment = {}, programs = PROGRAMS) {
    this.programs = programs;
    this.inFolder = (name) => join(folder, name);
    for (const name of ['state', 'snapshots', 'bin']) mkdirSync(this.inFolder(name), { recursive: true });
    for (const name of DISTURBED) writeFileSync(this.inFolder(`bin/${name}`), WRAPPER, { mode: 0o755 });
    this.environment = {
      STORE: store,
      STATE_DIR: this.inFolder('state'),
      SNAPSHOT_DIR: this.inFolder('snapshots'),
      KEYS_FILE: this.inFolder('keys.sqlite'),
      METRICS_FILE: this.inFolder('pull.prom'),
      // Most users have none.
      RCLONE_CONFIG: this.inFolder('absent/rclone.conf'),
      ...environment,
    };
  }

  /**
   * Starts `push` or `pull` in a process group of its own.
   * @param disturbance shell code that runs before each command of `DISTURBED`, whose arguments are `$*`
   * @param environment may have FILE_BLOCKS, a limit of the size of files in blocks of 512 bytes
   */
  start(line: string, disturbance = '', environment: Environment = {}) {
    const all = { ...INHERITED, ...this.environment, ...environment };
    const PATH = `${this.inFolder('bin')}:${all['PATH'] ?? ''}`;
    // Without the signal, a write beyond the limit fails as on a full disk.
    const limit = `trap '' XFSZ; ulimit -f "\${FILE_BLOCKS:-unlimited}"`;
    const program = spawn('sh', ['-c', `${limit}; exec ${this.programs}/${line}`], {
      cwd: this.inFolder(''),
      detached: true,
      env: disturbance === '' ? all : { ...all, PATH, DISTURBANCE: disturbance },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = Promise.all([once(program, 'close'), text(program.stdout), text(program.stderr)]);
    const ended = output.then(([, stdout, stderr]): Ended => {
      return { code: program.exitCode, signal: program.signalCode, stdout, stderr };
    });
    const kill = () => {
      const { pid } = program;
      if (pid !== undefined && program.exitCode === null) process.kill(-pid, 'SIGKILL');
    };
    return { ended, kill };
  }

  /** Runs a program that succeeds, by default without a warning. Returns its standard output. */
  async outputOf(line: string, warning = /^$/): Promise<string> {
    const { code, stdout, stderr } = await this.start(line).ended;
    expect(code, stderr).to.equal(0);
    expect(stderr, line).to.match(warning);
    return stdout;
  }

  /** Runs a program that fails. Returns the line that it prints. */
  async failureOf(line: string, environment: Environment = {}): Promise<string> {
    const { code, stderr } = await this.start(line, '', environment).ended;
    expect(code, stderr).to.equal(1);
    expect(stderr, line).to.match(/^[^\n]+\n$/);
    return stderr;
  }

  /** Returns which of the snapshots is published, and checks its content; undefined if there is none. */
  publishedOf(pushed: readonly Built[]): Built | undefined {
    const file = this.inFolder('snapshots/main.sqlite');
    if (!existsSync(file)) return undefined;
    const { snapshotId } = inspectSnapshot(file);
    const found = pushed.find(({ id }) => id === snapshotId) ?? expect.fail(`${snapshotId} was not pushed`);
    expect(contentOf(file)).to.equal(found.content);
    return found;
  }
}
