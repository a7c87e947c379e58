import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { buildSnapshot } from '../../src/snapshot/build/build-snapshot.ts';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { DEFAULT_SAMPLE } from '../sample/sample-options.ts';
import { writeSample } from '../sample/write-sample.ts';
import type { ReplicaFiles } from './servers/replica-process.ts';

/** How much is measured, and how often. */
export interface Sizes {
  /** Tickets of the snapshot that most is measured on. */
  readonly tickets: number;
  /** Tickets of the large snapshot. */
  readonly largeTickets: number;
  /** Events of the large snapshot and of the small one that it is compared with. */
  readonly events: number;
  readonly rounds: number;
  /** How long a server is asked in a round. */
  readonly seconds: number;
  /** Snapshots that go live before memory is looked at. */
  readonly swaps: number;
}

export interface SampleShape {
  readonly tickets: number;
  readonly events: number;
  /** With another title of one event: the ids are the same, and yet each replaces the other. */
  readonly isOther?: boolean;
}

const TICKETS_PER_EVENT = 500;
/** Of every sample, so that none is older than another and they may take turns. */
const PRODUCED_AT = new Date(`${DEFAULT_SAMPLE.now}T00:00:00Z`);

export function inProportion(tickets: number): SampleShape {
  return { tickets, events: Math.max(1, Math.round(tickets / TICKETS_PER_EVENT)) };
}

/** All that the groups of a bench share: sizes, a folder, samples and a key to them, and the end of it all. */
export class Stage {
  readonly sizes: Sizes;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly show: (text: string) => void;
  /** Another checkout of Foyer, to compare this one with. */
  readonly against: URL | undefined;
  /** Part of the names of the kinds of request that are measured. */
  readonly only: string;
  /** Where snapshots are looked for, and kept when they are not there. */
  readonly #samples: string;
  #access: Pick<ReplicaFiles, 'keysFile' | 'credential'> | undefined;

  /**
   * @param samples folder that snapshots are kept in for another time; when absent, they go with `folder`
   * @param show is told what is under way
   * @param against folder of another checkout
   * @param only part of the names of the kinds of request that are measured
   */
  constructor(
    sizes: Sizes,
    folder: string,
    samples: string | undefined,
    signal: AbortSignal,
    show: (text: string) => void,
    against?: URL,
    only = '',
  ) {
    this.sizes = sizes;
    this.folder = folder;
    this.signal = signal;
    this.show = show;
    this.against = against;
    this.only = only;
    this.#samples = samples ?? folder;
  }

  /** Returns the snapshot file of a sample: one that is there, or a new one. */
  async snapshot(shape: SampleShape): Promise<string> {
    const output = this.#sampleFile(shape, '');
    if (isReadable(output)) return output;
    const input = await this.#writeImport(shape);
    await buildSnapshot({
      input,
      output,
      skipInvalid: false,
      producedAt: PRODUCED_AT,
      signal: this.signal,
      onProgress: (stage, collection, records) => {
        this.show(`snapshot: ${records} ${collection} ${stage}`);
      },
    });
    rmSync(input, { recursive: true });
    return output;
  }

  /** Returns a snapshot of the same sample that another checkout reads: this one's, or one of its own building. */
  async snapshotFor(checkout: URL, shape: SampleShape): Promise<string> {
    const command = (...args: string[]) =>
      promisify(execFile)(
        process.execPath,
        [fileURLToPath(new URL('scripts/snapshot.ts', checkout)), ...args],
        {
          signal: this.signal,
        },
      );
    const reads = async (file: string) => {
      return (
        existsSync(file) &&
        (await command('inspect', file).then(
          () => true,
          () => false,
        ))
      );
    };
    const shared = await this.snapshot(shape);
    if (await reads(shared)) return shared;
    const output = this.#sampleFile(shape, '-against');
    if (await reads(output)) return output;
    const input = await this.#writeImport(shape);
    this.show('snapshot of the other checkout');
    await command('build', '--input', input, '--output', output);
    rmSync(input, { recursive: true });
    return output;
  }

  #sampleFile({ tickets, events, isOther = false }: SampleShape, suffix: string): string {
    const name = `${tickets}-tickets-${events}-events${isOther ? '-other' : ''}${suffix}.sqlite`;
    return join(this.#samples, name);
  }

  /** Writes the import folder of a sample. */
  async #writeImport({ tickets, events, isOther = false }: SampleShape): Promise<string> {
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
        this.show(`sample: ${written} of ${tickets} tickets`);
      },
    });
    if (isOther) renameAnEvent(join(input, 'events.ndjson'));
    return input;
  }

  /** What a replica needs that serves one of these snapshots after the other. */
  files(...snapshots: readonly [string, ...string[]]): ReplicaFiles {
    this.#access ??= this.#makeKey(snapshots[0]);
    return { folder: this.folder, snapshots, ...this.#access };
  }

  /** Every sample is of the same organization. */
  #makeKey(snapshot: string): Pick<ReplicaFiles, 'keysFile' | 'credential'> {
    const [{ organizationId }] = inspectSnapshot(snapshot).organizations;
    const keysFile = join(this.folder, 'keys.sqlite');
    const key = new KeysFile(keysFile).create(organizationId, 'bench', new Date());
    return { keysFile, credential: formatCredential(key) };
  }
}

/** Whether a file is there and of this version. */
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

function renameAnEvent(file: string): void {
  const text = readFileSync(file, 'utf8');
  const end = text.indexOf('\n');
  const event = { ...(JSON.parse(text.slice(0, end)) as object), title: 'Another title' };
  writeFileSync(file, JSON.stringify(event) + text.slice(end));
}
