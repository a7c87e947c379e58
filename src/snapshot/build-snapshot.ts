import { randomUUID } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { CollectionName } from '../contract/operations.ts';
import { ImportRejected } from './build-report.ts';
import type { BuildReport } from './build-report.ts';
import { EventSchedule } from './event-schedule.ts';
import { ORGANIZATIONS_FILE } from './import-files.ts';
import { readOrganizations } from './import-organizations.ts';
import { ImportStaging } from './import-staging.ts';
import { COLLECTIONS, EVENTS, SESSIONS } from './layout.ts';
import { packedFieldNames } from './packed-rows.ts';
import { Rejections } from './rejections.ts';
import { SnapshotWriter } from './snapshot-writer.ts';
import type { RecordRow } from './snapshot-writer.ts';
import { eventRows, listRows, sessionRows } from './staged-records.ts';
import type { StagedRows } from './staged-rows.ts';
import { sync } from './sync.ts';

const ROWS_PER_REPORT = 1000;

export interface BuildOptions {
  /** The import folder. */
  readonly input: string;
  /** Where the snapshot is to stand. What is there now stays until the new one is whole. */
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

/** Where the lines that were left out are written; when there are none, no such file stays from an earlier build. */
export function rejectsPath(output: string): string {
  return `${output}.rejects.ndjson`;
}

/**
 * Builds a snapshot file of an import folder. The lines are read on other threads and staged in a file; in memory
 * is, for each record, only what puts it in order. The snapshot appears under its name whole, or not at all.
 *
 * @throws ImportRejected when lines are bad and are not to be skipped
 * @throws NoOrganization
 * @throws UnreadableImport when a file cannot be read through
 */
export async function buildSnapshot(options: BuildOptions): Promise<BuildReport> {
  const folder = mkdtempSync(`${options.output}.building-`);
  try {
    return await build(options, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function build(options: BuildOptions, folder: string): Promise<BuildReport> {
  const { input, output, skipInvalid, signal, onProgress = () => undefined } = options;
  const rejections = new Rejections(skipInvalid ? join(folder, 'rejects') : undefined);
  const organizations = await readOrganizations(input, rejections);
  const organizationIds = [...organizations.names.keys()];
  if (organizationIds.length === 0 && (skipInvalid || rejections.total === 0)) throw new NoOrganization();
  const file = join(folder, basename(output));
  const writer = new SnapshotWriter(file, organizations.names, signal);
  const onBlock = (collection: CollectionName, records: number) => {
    signal?.throwIfAborted();
    onProgress('read', collection, records);
  };
  const staging = new ImportStaging(input, folder, new Set(organizationIds), rejections, onBlock);
  // Once a line is bad the import is only read on to count the others.
  const isWanted = () => skipInvalid || rejections.total === 0;
  try {
    const onRow = onProgress.bind(undefined, 'written');
    const records = await writeCollections(staging, writer, organizationIds, isWanted, onRow);
    if (!isWanted()) throw new ImportRejected(rejections.first, rejections.total);
    const snapshotId = randomUUID();
    const producedAt = options.producedAt.toISOString();
    writer.finish(snapshotId, producedAt);
    const fileBytes = statSync(file).size;
    // To finish takes a while, and whoever would end the build is heard only here.
    await sync(file);
    signal?.throwIfAborted();
    if (rejections.total > 0) rejections.publish(rejectsPath(output));
    else rmSync(rejectsPath(output), { force: true });
    renameSync(file, output);
    await sync(dirname(output));
    const dropped = new Map([...organizations.dropped, ...staging.dropped]);
    return {
      snapshotId,
      producedAt,
      organizations: organizationIds.length,
      records,
      dropped,
      rejected: rejections.total,
      fileBytes,
    };
  } finally {
    rejections.close();
    writer.close();
    await staging.close();
  }
}

/** Stages collection after collection, each while the one before it is written. Returns how many records were written. */
async function writeCollections(
  staging: ImportStaging,
  writer: SnapshotWriter,
  organizationIds: readonly string[],
  isWanted: () => boolean,
  onProgress: (collection: CollectionName, records: number) => void,
): Promise<BuildReport['records']> {
  const counts = { events: 0, sessions: 0, tickets: 0, orders: 0, offers: 0 };
  const write = async ({ layout }: StagedRows, organizationId: string, rows: Iterable<RecordRow>) => {
    if (!isWanted()) return;
    await writer.write(organizationId, layout, rows, () => {
      if (++counts[layout.name] % ROWS_PER_REPORT === 0) onProgress(layout.name, counts[layout.name]);
    });
  };

  const events = await staging.stage(EVENTS);
  const eventIdField = packedFieldNames(SESSIONS).indexOf('event_id');
  const sessions = await staging.stage(SESSIONS, (organizationId, fields) => {
    const eventId = fields[eventIdField];
    const isThere = events.organization(organizationId).ids.find(eventId, 0, eventId.length) >= 0;
    return isThere
      ? undefined
      : { field: 'eventId', reason: `"${eventId.toString()}" is not an event of the organization` };
  });

  const writeSchedules = async () => {
    for (const organizationId of organizationIds) {
      const schedule = new EventSchedule(organizationId, events, sessions);
      for (const event of schedule.withoutSession) {
        staging.refuse(events, organizationId, event, {
          field: EVENTS.resource.id,
          reason: `"${events.organization(organizationId).idOf(event)}" has no session in the import`,
        });
      }
      const firstEventRow = writer.nextRow(EVENTS.table);
      await write(events, organizationId, eventRows(events, organizationId, schedule));
      await write(sessions, organizationId, sessionRows(sessions, organizationId, schedule, firstEventRow));
    }
  };
  let writing = writeSchedules();
  for (const layout of COLLECTIONS.filter((layout) => layout !== EVENTS && layout !== SESSIONS)) {
    const [staged] = await Promise.all([staging.stage(layout), writing]);
    writing = (async () => {
      for (const organizationId of organizationIds) {
        await write(staged, organizationId, listRows(staged, organizationId));
      }
      staging.release(staged);
    })();
  }
  await writing;
  return counts;
}
