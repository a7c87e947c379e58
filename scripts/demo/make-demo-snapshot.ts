import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { buildSnapshot } from '../../src/snapshot/builder/build-snapshot.ts';
import { FOLDER_MODE } from '../../src/snapshot/format/replace-file.ts';
import { DEFAULT_SAMPLE, writeSample } from '../sample/write-sample.ts';

/** Builds a snapshot of sample data as of today, and creates its folder. */
export async function makeDemoSnapshot(snapshot: string): Promise<void> {
  mkdirSync(dirname(snapshot), { recursive: true, mode: FOLDER_MODE });
  const input = mkdtempSync(`${snapshot}.sample-`);
  try {
    const producedAt = new Date();
    await writeSample({ ...DEFAULT_SAMPLE, now: producedAt.toISOString().slice(0, 10), output: input });
    await buildSnapshot({ input, output: snapshot, producedAt });
  } finally {
    rmSync(input, { recursive: true, force: true });
  }
}
