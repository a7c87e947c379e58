import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_SAMPLE } from '../../src/sample/sample-options.ts';
import { writeSample } from '../../src/sample/write-sample.ts';
import { buildSnapshot } from '../../src/snapshot/build-snapshot.ts';

/** Two snapshot files of one organization that differ by a word: the ids are the same, and yet each replaces the other. */
export type SnapshotPair = readonly [string, string];

const TICKETS_PER_EVENT = 500;

export async function makeSnapshotPair(
  folder: string,
  tickets: number,
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<SnapshotPair> {
  const input = join(folder, 'import');
  await writeSample({
    ...DEFAULT_SAMPLE,
    organizations: 1,
    events: Math.max(1, Math.round(tickets / TICKETS_PER_EVENT)),
    tickets,
    output: input,
    onProgress: (written) => {
      signal.throwIfAborted();
      onProgress(`sample: ${written} of ${tickets} tickets`);
    },
  });
  // Neither is older than the other, so that they may take turns.
  const producedAt = new Date();
  const build = async (name: string): Promise<string> => {
    onProgress(`snapshot ${name}`);
    const output = join(folder, `${name}.sqlite`);
    await buildSnapshot({ input, output, skipInvalid: false, producedAt, signal });
    return output;
  };
  const first = await build('first');
  renameAnEvent(join(input, 'events.ndjson'));
  const second = await build('second');
  rmSync(input, { recursive: true });
  return [first, second];
}

function renameAnEvent(file: string): void {
  const text = readFileSync(file, 'utf8');
  const end = text.indexOf('\n');
  const event = { ...(JSON.parse(text.slice(0, end)) as object), title: 'Another title' };
  writeFileSync(file, JSON.stringify(event) + text.slice(end));
}
