import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { DEFAULT_SAMPLE, writeSample } from '../sample/write-sample.ts';
import { count } from '../terminal/units.ts';
import type { BareSettings } from './servers/bare-server.ts';
import { ServerProcess } from './servers/processes.ts';
import { Replica } from './servers/replica.ts';

/** Sizes of the samples, and number and length of the rounds, as the options of the bench describe them. */
export type Sizes = Readonly<
  Record<'tickets' | 'largeTickets' | 'events' | 'rounds' | 'seconds' | 'swaps' | 'feeds', number>
>;

interface SampleShape {
  readonly tickets: number;
  readonly events: number;
  /** Changes the title of one event: the snapshot has the same ids and another content. */
  readonly isVariant?: boolean;
}

/** The root folder of this checkout. */
const THIS_CHECKOUT = new URL('../..', import.meta.url);
const BARE_SERVER = new URL('./servers/bare-server.ts', import.meta.url);
const TICKETS_PER_EVENT = 500;
/** Production time of every sample: none is older than another, so that any can replace any. */
const PRODUCED_AT = `${DEFAULT_SAMPLE.now}T00:00:00Z`;

interface BenchOptions {
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
  readonly options: BenchOptions;
  /** Snapshot files that a checkout can read, after its address. */
  readonly #readable = new Set<string>();
  #keys = 0;

  constructor(options: BenchOptions) {
    this.options = options;
  }

  /** The sample that most groups use. */
  get usualShape(): SampleShape {
    return shapeOf(this.options.sizes.tickets);
  }

  /** A sample that is small enough for hundreds of builds. */
  get smallShape(): SampleShape {
    return shapeOf(Math.round(this.options.sizes.tickets / 5));
  }

  get largeShape(): SampleShape {
    const { largeTickets: tickets, events } = this.options.sizes;
    return { tickets, events };
  }

  /** Measures each round, and before them one that does not count. */
  async rounds<T>(title: string, measure: (round: number) => Promise<T>): Promise<T[]> {
    const { sizes, showProgress } = this.options;
    const figures: T[] = [];
    for (let round = 0; round <= sizes.rounds; round++) {
      showProgress(`${title}: ${round === 0 ? 'warming up' : `round ${round} of ${sizes.rounds}`}`);
      const figure = await measure(round);
      if (round > 0) figures.push(figure);
    }
    return figures;
  }

  /** Returns a snapshot file of a sample that a checkout can read, and builds it when there is none. */
  async snapshot(shape = this.usualShape, checkout = THIS_CHECKOUT): Promise<string> {
    const { keep, folder, showProgress } = this.options;
    const { tickets, events, isVariant = false } = shape;
    const name = `${tickets}-tickets-${events}-events${isVariant ? '-other' : ''}`;
    const files = (checkout === THIS_CHECKOUT ? [''] : ['', '-against']).map((suffix) =>
      join(keep ?? folder, `${name}${suffix}.sqlite`),
    );
    for (const file of files) if (await this.#canRead(checkout, file)) return file;
    const output = files[files.length - 1];
    const input = await this.writeImport(shape);
    showProgress(`building the snapshot of ${count(tickets)} tickets`);
    await this.build(input, output, ['--as-of', PRODUCED_AT], checkout);
    rmSync(input, { recursive: true });
    return output;
  }

  async #canRead(checkout: URL, file: string): Promise<boolean> {
    if (!existsSync(file)) return false;
    if (this.#readable.has(checkout.href + file)) return true;
    try {
      await this.#run(checkout, 'snapshot', 'inspect', file);
      this.#readable.add(checkout.href + file);
      return true;
    } catch {
      this.options.signal.throwIfAborted();
      return false;
    }
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
    const input = join(this.options.folder, 'import');
    await writeSample({
      ...DEFAULT_SAMPLE,
      organizations: 1,
      events,
      tickets,
      output: input,
      onProgress: (written) => {
        this.options.signal.throwIfAborted();
        this.options.showProgress(`sample: ${count(written)} of ${count(tickets)} tickets`);
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
    const { signal, folder } = this.options;
    const key = await this.#createKey(checkout, snapshots?.[0]);
    const files = snapshots ?? [await this.snapshot(this.usualShape, checkout)];
    return await Replica.launch({ signal, folder, checkout, environment, snapshots: files, ...key });
  }

  /** Starts a bare server. */
  async startBare(settings: BareSettings): Promise<ServerProcess> {
    const { signal, folder } = this.options;
    const { credential } = settings.traffic;
    await using onFailure = new AsyncDisposableStack();
    const options = { signal, credential, output: join(folder, 'bare.log') };
    const server = onFailure.use(new ServerProcess(BARE_SERVER, options));
    await server.nextMessage<'ready'>();
    server.port = await server.call<number>({ ...settings });
    onFailure.move();
    return server;
  }

  /** Creates a keys file by the command of a checkout, which alone knows its format. All samples have one organization. */
  async #createKey(checkout: URL, snapshot?: string): Promise<{ keysFile: string; credential: string }> {
    const [{ organizationId }] = inspectSnapshot(snapshot ?? (await this.snapshot())).organizations;
    const keysFile = join(this.options.folder, `keys-${++this.#keys}.sqlite`);
    const options = ['--organization', organizationId, '--file', keysFile];
    const output = await this.#run(checkout, 'keys', 'create', ...options);
    return { keysFile, credential: output.trimEnd().split('\n').at(-1) ?? '' };
  }

  /** Runs a command of a checkout. Returns its output. */
  async #run(checkout: URL, command: string, ...args: readonly string[]): Promise<string> {
    const { signal } = this.options;
    const script = fileURLToPath(new URL(`scripts/${command}.ts`, checkout));
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { signal });
    return stdout;
  }
}

function shapeOf(tickets: number): SampleShape {
  return { tickets, events: Math.max(1, Math.round(tickets / TICKETS_PER_EVENT)) };
}

function renameFirstEvent(file: string): void {
  const text = readFileSync(file, 'utf8');
  const end = text.indexOf('\n');
  const event = { ...(JSON.parse(text.slice(0, end)) as object), title: 'Another title' };
  writeFileSync(file, JSON.stringify(event) + text.slice(end));
}
