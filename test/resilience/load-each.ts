import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { loadSnapshot } from '../../src/snapshot/load/load-snapshot.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';

/**
 * Loads snapshot files on the loader thread, as a replica does, in a process of its own, which a crash would end. A message
 * from its parent is the path of a file, the first of which is sound; the result is an outcome.
 */
export interface Outcome {
  /** Whether the image equals that of the first file; undefined for a refused file. */
  readonly isSame?: boolean;
  readonly reason?: string;
  readonly detail?: string;
  readonly ms: number;
  /** Peak of the resident memory so far, in bytes. */
  readonly peakBytes: number;
}

const TIMEOUT_SECONDS = 20;

/** The content of an image, whether in one buffer or in many. */
const contentOf = ({ organizations }: SnapshotImage) =>
  organizations.map((organization) => ({ ...organization, bytesHeld: 0 }));

let sound: ReturnType<typeof contentOf> | undefined;

process.on('message', (path: string) => void report(path));

async function report(path: string): Promise<void> {
  const started = performance.now();
  const outcome = await outcomeOf(path);
  const ms = Math.round(performance.now() - started);
  // Unlike maxRSS, this does not include the memory of the parent process.
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  process.send?.({ ...outcome, ms, peakBytes: Number(kilobytes) * 1024 } satisfies Outcome);
}

async function outcomeOf(path: string): Promise<Partial<Outcome>> {
  try {
    const content = contentOf(await loadSnapshot(path, { timeoutSeconds: TIMEOUT_SECONDS }));
    sound ??= content;
    return { isSame: isDeepStrictEqual(content, sound) };
  } catch (error) {
    if (!(error instanceof RefusedSnapshot)) throw error;
    return { reason: error.reason, detail: error.message };
  }
}
