import { execFile, type Serializable } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { DEFAULT_SAMPLE } from '../sample/sample-options.ts';
import { writeSample } from '../sample/write-sample.ts';
import { count } from '../terminal/units.ts';
import { Replica } from './servers/replica.ts';
import { ServerProcess } from './servers/server-process.ts';

/** Sizes of the samples, and number and length of the rounds. */
export interface Sizes {
  /** Tickets of the snapshot that most groups use. */
  readonly tickets: number;
  /** Tickets of the large snapshot. */
  readonly largeTickets: number;
  /** Events of the large snapshot, and of the small one that it is compared with. */
  readonly events: number;
  readonly rounds: number;
  /** Length of a load on one server in a round. */
  readonly seconds: number;
  /** Snapshots that go live before memory is measured. */
  readonly swaps: number;
}

export interface SampleShape {
  readonly tickets: number;
  readonly events: number;
  /** Changes the title of one event: the snapshot has the same ids and another content. */
  readonly isVariant?: boolean;
}

/** The root folder of this checkout. */
const THIS_CHECKOUT = new URL('../..', import.meta.url);
const TICKETS_PER_EVENT = 500;
/** Production time of every sample: none is older than another, so that any can replace any. */
const PRODUCED_AT = `${DEFAULT_SAMPLE.now}T00:00:00Z`;

/** A key to every sample: all have the same organization. */
interface Access {
  readonly keysFile: string;
  readonly credential: string;
}

interface ContextOptions {
  readonly sizes: Sizes;
  /** Temporary folder. */
  readonly folder: string;
  /** Folder that keeps snapshots for later runs; the temporary folder when absent. */
  readonly keep: string | undefined;
  /** Root folder of another checkout of Foyer to compare with. */
  readonly against: URL | undefined;
  /** Text in the names of the request kinds to measure. */
  readonly only: string;
  readonly signal: AbortSignal;
  readonly showProgress: (text: string) => void;
}

interface Start {
  /** Snapshot files that go live in rotation; by default the usual sample. */
  readonly snapshots?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly checkout?: URL;
}

/** The state that all groups share: sizes, folders, samples, the signal to stop, and how to start servers. */
export class BenchContext {
  readonly sizes: Sizes;
  readonly folder: string;
  readonly against: URL | undefined;
  readonly only: string;
  readonly signal: AbortSignal;
  readonly showProgress: (text: string) => void;
  readonly #samples: string;
  readonly #access = new Map<URL, Access>();
  #servers = 0;

  constructor({ sizes, folder, keep, against, only, signal, showProgress }: ContextOptions) {
    this.sizes = sizes;
    this.folder = folder;
    this.against = against;
    this.only = only;
    this.signal = signal;
    this.showProgress = showProgress;
    this.#samples = keep ?? folder;
    mkdirSync(this.#samples, { recursive: true });
  }

  /** The sample that most groups use. */
  get usualShape(): SampleShape {
    const { tickets } = this.sizes;
    return { tickets, events: Math.max(1, Math.round(tickets / TICKETS_PER_EVENT)) };
  }

  get largeShape(): SampleShape {
    const { largeTickets: tickets, events } = this.sizes;
    return { tickets, events };
  }

  /** Measures each round, and before them one that does not count. */
  async rounds<T>(title: string, measure: (round: number) => Promise<T>): Promise<T[]> {
    const figures: T[] = [];
    for (let round = 0; round <= this.sizes.rounds; round++) {
      this.showProgress(`${title}: ${round === 0 ? 'warming up' : `round ${round} of ${this.sizes.rounds}`}`);
      const figure = await measure(round);
      if (round > 0) figures.push(figure);
    }
    return figures;
  }

  /** Returns a snapshot file of a sample that a checkout can read, and builds it when there is none. */
  async snapshot(shape = this.usualShape, checkout = THIS_CHECKOUT): Promise<string> {
    const { tickets, events, isVariant = false } = shape;
    const name = `${tickets}-tickets-${events}-events${isVariant ? '-other' : ''}`;
    const [own, others] = ['', '-against'].map((suffix) => join(this.#samples, `${name}${suffix}.sqlite`));
    for (const file of [own, others]) {
      const inspect = () => this.#run(checkout, 'snapshot', 'inspect', file);
      const isReadable =
        existsSync(file) &&
        (await inspect().then(
          () => true,
          () => false,
        ));
      this.signal.throwIfAborted();
      if (isReadable) return file;
    }
    const output = checkout === THIS_CHECKOUT ? own : others;
    const input = await this.writeImport(shape);
    this.showProgress(`building the snapshot of ${count(tickets)} tickets`);
    await this.build(input, output, ['--as-of', PRODUCED_AT], checkout);
    rmSync(input, { recursive: true });
    return output;
  }

  /** Builds a snapshot by the command of a checkout. */
  async build(
    input: string,
    output: string,
    options: readonly string[] = [],
    checkout = THIS_CHECKOUT,
  ): Promise<void> {
    await this.#run(checkout, 'snapshot', 'build', '--input', input, '--output', output, ...options);
  }

  /** Writes the import folder of a sample, in place of an earlier one. Returns its path. */
  async writeImport({ tickets, events, isVariant = false }: SampleShape): Promise<string> {
    const input = join(this.folder, 'import');
    await writeSample({
      ...DEFAULT_SAMPLE,
      organizations: 1,
      events,
      tickets,
      output: input,
      onProgress: (written) => {
        this.signal.throwIfAborted();
        this.showProgress(`sample: ${count(written)} of ${count(tickets)} tickets`);
      },
    });
    if (isVariant) renameFirstEvent(join(input, 'events.ndjson'));
    return input;
  }

  /** Starts a replica of a checkout, and waits until its first snapshot is live. */
  async startReplica({
    snapshots,
    environment = {},
    checkout = THIS_CHECKOUT,
  }: Start = {}): Promise<Replica> {
    const files = snapshots ?? [await this.snapshot(this.usualShape, checkout)];
    return await Replica.launch({
      signal: this.signal,
      folder: this.folder,
      checkout,
      environment,
      snapshots: files,
      ...(await this.#accessFor(checkout)),
    });
  }

  /**
   * Starts a server for comparison.
   * @param program file name
   * @param settings of the program; those of a server with a database of its own are extended by snapshot and keys file
   */
  async startServer(
    program: string,
    settings: Readonly<Record<string, Serializable>>,
  ): Promise<ServerProcess> {
    const { keysFile, credential } = await this.#accessFor(THIS_CHECKOUT);
    const all = { snapshot: await this.snapshot(), keysFile, ...settings };
    return await ServerProcess.start(new URL(`servers/${program}`, import.meta.url), all, {
      signal: this.signal,
      credential,
      output: join(this.folder, `server-${this.#servers++}.log`),
    });
  }

  /** Creates a key by the command of a checkout, which alone knows the format of its keys file. */
  async #accessFor(checkout: URL): Promise<Access> {
    let access = this.#access.get(checkout);
    if (access === undefined) {
      const [{ organizationId }] = inspectSnapshot(await this.snapshot()).organizations;
      const keysFile = join(this.folder, `keys-${this.#access.size}.sqlite`);
      const options = ['--organization', organizationId, '--file', keysFile];
      const output = await this.#run(checkout, 'keys', 'create', ...options);
      access = { keysFile, credential: output.trimEnd().split('\n').at(-1) ?? '' };
      this.#access.set(checkout, access);
    }
    return access;
  }

  /** Runs a command of a checkout. Returns its output. */
  async #run(checkout: URL, command: string, ...args: readonly string[]): Promise<string> {
    const script = fileURLToPath(new URL(`scripts/${command}.ts`, checkout));
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], {
      signal: this.signal,
    }).catch((error: unknown) => {
      // Of an interrupted bench, the reason counts.
      this.signal.throwIfAborted();
      throw error;
    });
    return stdout;
  }
}

function renameFirstEvent(file: string): void {
  const text = readFileSync(file, 'utf8');
  const end = text.indexOf('\n');
  const event = { ...(JSON.parse(text.slice(0, end)) as object), title: 'Another title' };
  writeFileSync(file, JSON.stringify(event) + text.slice(end));
}
