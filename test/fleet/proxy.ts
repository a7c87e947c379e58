import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';

/** The programs with a configuration in deploy/, and what is replaced in it: address, and the block of a shard. */
const PROGRAMS = {
  nginx: {
    configuration: 'nginx/foyer.conf',
    map: 'nginx/foyer.map',
    listen: /(?<=listen )443/g,
    shard: /^upstream shard-1 \{[^]*?^\}\n/m,
    arguments: ['-c'],
    reload: 'SIGHUP',
    workers: 2,
  },
  haproxy: {
    configuration: 'haproxy/haproxy.cfg',
    map: 'haproxy/foyer.map',
    listen: /(?<=bind ):::443 v4v6/g,
    shard: /^backend shard-1\n[^]*/m,
    arguments: ['-W', '-f'],
    reload: 'SIGUSR2',
    workers: 1,
  },
} as const;
const FOLDERS = /\/(etc\/(nginx|haproxy|ssl)|var\/log\/nginx|run\/haproxy)(?=\/)/g;

export type ProxyProgram = keyof typeof PROGRAMS;

/** A replica behind a proxy. Its id stays when others are removed. */
export interface Upstream {
  readonly id: number;
  readonly port: number;
  readonly adminPort: number;
}

export interface ProxyOptions {
  /** Folder of the process and its certificates, in place of all others. */
  readonly folder: string;
  /** The replicas of each shard. The first shard is that of organizations that the map does not contain. */
  readonly shards: readonly (readonly Upstream[])[];
}

const POLL_MS = 10;
const RESEND_MS = 500;
const DEPLOY = new URL('../../deploy/', import.meta.url);

/** A proxy with the configuration of deploy/, in which only ports, replicas, folders and certificates are replaced. */
export class Proxy implements AsyncDisposable {
  /** File of the shards of organizations, which a reload reads again. */
  readonly map: string;
  readonly port: number;
  readonly #program: ProxyProgram;
  readonly #options: ProxyOptions;
  readonly #process: ChildProcess;

  private constructor(program: ProxyProgram, port: number, options: ProxyOptions) {
    const { folder } = options;
    this.port = port;
    this.#program = program;
    this.#options = options;
    mkdirSync(folder, { recursive: true });
    this.map = join(folder, 'foyer.map');
    writeFileSync(this.map, readFileSync(new URL(PROGRAMS[program].map, DEPLOY)));
    const file = this.#writeConfiguration(options.shards);
    this.#process = spawn(program, [...PROGRAMS[program].arguments, file], {
      stdio: ['ignore', 'ignore', 'pipe'],
      // A terminal sends Ctrl-C to the whole process group.
      detached: true,
    });
  }

  /** Starts a proxy, and waits until it accepts connections and its workers run: only then can a reload tell them apart. */
  static async start(program: ProxyProgram, options: ProxyOptions): Promise<Proxy> {
    const proxy = new Proxy(program, await freePort(), options);
    let output = '';
    proxy.#process.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
    const failed = once(proxy.#process, 'exit').then(() => {
      throw new Error(`${program} ended: ${output}`);
    });
    failed.catch(() => undefined);
    const { workers } = PROGRAMS[program];
    while (
      !(await Promise.race([accepts(proxy.port), failed])) ||
      childrenOf(proxy.#process.pid).length < workers
    )
      await delay(POLL_MS);
    return proxy;
  }

  /**
   * Reloads the configuration and the map, with other replicas if given. Returns when the processes with the earlier ones
   * have ended, which they do when their connections have.
   */
  async reload(shards = this.#options.shards): Promise<void> {
    const { pid } = this.#process;
    const earlier = new Set(childrenOf(pid));
    this.#writeConfiguration(shards);
    // HAProxy loses a signal at the end of its start.
    for (let ms = 0; childrenOf(pid).every((child) => earlier.has(child)); ms += POLL_MS) {
      if (ms % RESEND_MS === 0) this.#process.kill(PROGRAMS[this.#program].reload);
      await delay(POLL_MS);
    }
    while (childrenOf(pid).some((child) => earlier.has(child))) await delay(POLL_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await exited;
  }

  #writeConfiguration(shards: ProxyOptions['shards']): string {
    const { configuration, listen, shard } = PROGRAMS[this.#program];
    const { folder } = this.#options;
    let text = readFileSync(new URL(configuration, DEPLOY), 'utf8');
    const replace = (pattern: RegExp, by: (found: string) => string) => {
      const replaced = text.replace(pattern, by);
      if (replaced === text) throw new Error(`${configuration} has no ${String(pattern)}`);
      text = replaced;
    };
    replace(listen, () => `127.0.0.1:${this.port}`);
    replace(shard, (block) => shards.map((replicas, i) => shardOf(block, i + 1, replicas)).join('\n'));
    replace(FOLDERS, () => folder);
    if (this.#program === 'nginx') {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const paths = temporary.map((name) => `${name}_temp_path ${join(folder, name)};\n`).join('');
      text = `daemon off; pid ${join(folder, 'pid')}; error_log stderr emerg; worker_processes ${PROGRAMS.nginx.workers};
        events { worker_connections 16384; } http { ${paths}${text} }`;
      // Only root may change user, group and root folder.
    } else if (process.getuid?.() !== 0) replace(/^ *(user|group|chroot) .*\n/gm, () => '');
    const file = join(folder, 'configuration');
    writeFileSync(file, text);
    return file;
  }
}

function childrenOf(pid: number | undefined): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

/** Returns the block of a shard: that of the first one, with a line for each replica. */
function shardOf(block: string, number: number, replicas: readonly Upstream[]): string {
  return block.replaceAll('shard-1', `shard-${number}`).replace(/^ *server .*\n/m, (line) =>
    replicas
      .map(({ id, port, adminPort }) =>
        line
          .replace('replica-1', `replica-${id}`)
          .replace(/\bid 1\b/, `id ${id}`)
          .replace(/:\d+/, `:${port}`)
          .replace(/port \d+/, `port ${adminPort}`),
      )
      .join(''),
  );
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
