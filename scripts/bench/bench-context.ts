import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { buildSnapshot } from '../../src/snapshot/builder/build-snapshot.ts';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { DEFAULT_SAMPLE } from '../sample/sample-options.ts';
import { writeSample } from '../sample/write-sample.ts';
import { count } from '../terminal/units.ts';
import type { ReplicaFiles } from './servers/replica-process.ts';

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

const TICKETS_PER_EVENT = 500;
/** The same for every sample, so that none is older than another and any can replace any. */
const PRODUCED_AT = new Date(`${DEFAULT_SAMPLE.now}T00:00:00Z`);

/** Returns the shape of a sample with the usual number of events for its tickets. */
export function shapeOf(tickets: number): SampleShape {
  return { tickets, events: Math.max(1, Math.round(tickets / TICKETS_PER_EVENT)) };
}

interface ContextOptions {
  readonly sizes: Sizes;
  /** Temporary folder. */
  readonly folder: string;
  /** Folder that keeps snapshots for later runs; the temporary folder when absent. */
  readonly keep?: string | undefined;
  /** Root folder of another checkout of Foyer to compare with. */
  readonly against?: URL | undefined;
  /** Text in the names of the request kinds to measure. */
  readonly only?: string | undefined;
  readonly signal: AbortSignal;
  readonly showProgress: (text: string) => void;
}

/** The state that all groups share: sizes, folders, samples with a key to them, and the signal to stop. */
export class BenchContext {
  readonly sizes: Sizes;
  readonly folder: string;
  readonly against: URL | undefined;
  readonly only: string;
  readonly signal: AbortSignal;
  readonly showProgress: (text: string) => void;
  readonly #samples: string;
  #access: Pick<ReplicaFiles, 'keysFile' | 'credential'> | undefined;

  constructor({ sizes, folder, keep, against, only, signal, showProgress }: ContextOptions) {
    this.sizes = sizes;
    this.folder = folder;
    this.against = against;
    this.only = only ?? '';
    this.signal = signal;
    this.showProgress = showProgress;
    this.#samples = keep ?? folder;
  }

  /** Returns the snapshot file of a sample, and builds it when it is absent. */
  async snapshot(shape: SampleShape): Promise<string> {
    const output = this.#sampleFile(shape, '');
    if (isReadable(output)) return output;
    const input = await this.writeImport(shape);
    await buildSnapshot({
      input,
      output,
      skipInvalid: false,
      producedAt: PRODUCED_AT,
      signal: this.signal,
      onProgress: ({ step, list, records }) => {
        this.showProgress(`snapshot: ${count(records)} ${list} ${step}`);
      },
    });
    rmSync(input, { recursive: true });
    return output;
  }

  /** Returns a snapshot of the sample that another checkout can read: this checkout's, or one that the other builds. */
  async snapshotFor(checkout: URL, shape: SampleShape): Promise<string> {
    const script = fileURLToPath(new URL('scripts/snapshot.ts', checkout));
    const command = (...args: string[]) =>
      promisify(execFile)(process.execPath, [script, ...args], { signal: this.signal });
    const canRead = async (file: string): Promise<boolean> => {
      if (!existsSync(file)) return false;
      return await command('inspect', file).then(
        () => true,
        () => false,
      );
    };
    const shared = await this.snapshot(shape);
    if (await canRead(shared)) return shared;
    const output = this.#sampleFile(shape, '-against');
    if (await canRead(output)) return output;
    const input = await this.writeImport(shape);
    this.showProgress('snapshot of the other checkout');
    await command('build', '--input', input, '--output', output);
    rmSync(input, { recursive: true });
    return output;
  }

  #sampleFile({ tickets, events, isVariant = false }: SampleShape, suffix: string): string {
    const name = `${tickets}-tickets-${events}-events${isVariant ? '-other' : ''}${suffix}.sqlite`;
    return join(this.#samples, name);
  }

  /** Writes the import folder of a sample, in place of an earlier one. Returns its path. */
  async writeImport({ tickets, events, isVariant = false }: SampleShape): Promise<string> {
    mkdirSync(this.#samples, { recursive: true });
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

  /** Returns the files of a replica that serves these snapshots in rotation. */
  replicaFiles(...snapshots: readonly [string, ...string[]]): ReplicaFiles {
    this.#access ??= this.#createKey(snapshots[0]);
    return { folder: this.folder, snapshots, ...this.#access };
  }

  /**
   * Creates the key to every sample: all have the same organization. Another checkout creates it itself, since this one
   * reads the keys files of earlier versions.
   */
  #createKey(snapshot: string): Pick<ReplicaFiles, 'keysFile' | 'credential'> {
    const [{ organizationId }] = inspectSnapshot(snapshot).organizations;
    const keysFile = join(this.folder, 'keys.sqlite');
    if (this.against === undefined) {
      const key = new KeysFile(keysFile).create(organizationId, 'bench', new Date());
      return { keysFile, credential: formatCredential(key) };
    }
    const script = fileURLToPath(new URL('scripts/keys.ts', this.against));
    const words = ['create', '--organization', organizationId, '--file', keysFile];
    const output = execFileSync(process.execPath, [script, ...words], { encoding: 'utf8' });
    return { keysFile, credential: output.trimEnd().split('\n').at(-1) ?? '' };
  }
}

/** Returns whether a snapshot file exists and has the format of this checkout. */
function isReadable(snapshot: string): boolean {
  if (!existsSync(snapshot)) return false;
  try {
    inspectSnapshot(snapshot);
    return true;
  } catch (error) {
    if (error instanceof RefusedSnapshot) return false;
    throw error;
  }
}

function renameFirstEvent(file: string): void {
  const text = readFileSync(file, 'utf8');
  const end = text.indexOf('\n');
  const event = { ...(JSON.parse(text.slice(0, end)) as object), title: 'Another title' };
  writeFileSync(file, JSON.stringify(event) + text.slice(end));
}
