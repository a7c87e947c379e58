import { randomUUID } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { CollectionName } from '../../contract/operations.ts';
import { COLLECTIONS } from '../format/layout.ts';
import { sync } from '../format/snapshot-file.ts';
import { importFile, ORGANIZATIONS_FILE } from './import-files.ts';
import { readOrganizations } from './import-organizations.ts';
import { stageImport } from './import-threads.ts';
import { type BuildReport, ImportRejected } from './rejections.ts';
import { SnapshotWriter } from './snapshot-writer.ts';
import { Staging } from './staging.ts';

export interface BuildOptions {
  /** The import folder. */
  readonly input: string;
  /** The snapshot file. A file that is there now stays until the new one is whole. */
  readonly output: string;
  /** Leave bad lines out, and write them to `rejectsPath(output)`, instead of refusing the import. */
  readonly skipInvalid: boolean;
  /** The time at which it counts as produced. */
  readonly producedAt: Date;
  /** Called now and then with how many records of a collection have been read or written so far. */
  readonly onProgress?: (step: 'read' | 'written', collection: CollectionName, records: number) => void;
  /** Ends the build, which then throws the signal's reason and leaves nothing behind. */
  readonly signal?: AbortSignal;
}

/** The import has no organization, without which it has no records either. */
export class NoOrganization extends Error {
  override readonly name = 'NoOrganization';
  constructor() {
    super(`holds no organization: each needs a line in ${ORGANIZATIONS_FILE}.ndjson`);
  }
}

/** Returns where the lines that were left out are written. When there are none, the file of an earlier build is removed. */
export function rejectsPath(output: string): string {
  return `${output}.rejects.ndjson`;
}

/**
 * Builds a snapshot file from an import folder. Threads read the lines, and a temporary file holds the records, so that
 * memory does not depend on their number. The snapshot appears under its name whole, or not at all.
 *
 * @throws ImportRejected when lines are bad and are not to be skipped
 * @throws NoOrganization
 * @throws UnreadableImport when a file cannot be read through
 */
export async function buildSnapshot(options: BuildOptions): Promise<BuildReport> {
  const folder = mkdtempSync(`${options.output}.building-`);
  const staging = new Staging(join(folder, 'staging.sqlite'), options.skipInvalid);
  try {
    return await build(options, folder, staging);
  } finally {
    staging.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function build(options: BuildOptions, folder: string, staging: Staging): Promise<BuildReport> {
  const { input, output, skipInvalid, signal, onProgress } = options;
  const { rejections } = staging;
  const organizations = await readOrganizations(input, rejections);
  if (organizations.names.size === 0 && (skipInvalid || rejections.total === 0)) throw new NoOrganization();
  const organizationIds = [...organizations.names.keys()];
  const onBlock = (collection: CollectionName, records: number) => {
    signal?.throwIfAborted();
    onProgress?.('read', collection, records);
  };
  const staged = await stageImport({ input, folder, organizationIds, onBlock }, rejections);
  staging.attach(staged.stagingFiles, organizationIds);
  staging.rejectContradictions(({ name }) => importFile(input, name) ?? name);
  if (rejections.total > 0 && !skipInvalid) throw new ImportRejected(rejections.first(), rejections.total);

  const file = join(folder, basename(output));
  const writer = new SnapshotWriter(file, organizations.names);
  try {
    const records = await writeRecords(writer, staging, options);
    const snapshotId = randomUUID();
    const producedAt = options.producedAt.toISOString();
    writer.finish(snapshotId, producedAt);
    const fileBytes = statSync(file).size;
    await sync(file);
    const rejects = join(folder, 'rejects');
    if (rejections.total > 0) await rejections.write(rejects);
    // The last moment at which the build can be ended.
    signal?.throwIfAborted();
    if (rejections.total > 0) renameSync(rejects, rejectsPath(output));
    else rmSync(rejectsPath(output), { force: true });
    renameSync(file, output);
    await sync(dirname(output));
    return {
      snapshotId,
      producedAt,
      organizations: organizations.names.size,
      records,
      dropped: new Map([...organizations.dropped, ...staged.dropped]),
      rejected: rejections.total,
      fileBytes,
    };
  } finally {
    writer.close();
  }
}

/** Writes all staged records. Returns how many there were. */
async function writeRecords(
  writer: SnapshotWriter,
  staging: Staging,
  { signal, onProgress }: BuildOptions,
): Promise<BuildReport['records']> {
  const counts = { events: 0, sessions: 0, tickets: 0, orders: 0, offers: 0 };
  for (const layout of COLLECTIONS) {
    for (const written of writer.write(layout, staging.records(layout))) {
      counts[layout.name] += written;
      onProgress?.('written', layout.name, counts[layout.name]);
      // A turn of the event loop, in which a signal to end the build arrives.
      await setImmediate();
      signal?.throwIfAborted();
    }
  }
  return counts;
}
