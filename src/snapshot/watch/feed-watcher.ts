import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { asServed } from '../../contract/timestamp.ts';
import { objectsIn, parseObject, textIn } from '../format/json-values.ts';
import { isSnapshotName } from '../format/snapshot-file.ts';

/** A bound, since any job may write a report. */
const MAX_BYTES = 1_000_000;

/** A feed reports on its runs in `NAME.feed.json`, beside `NAME.sqlite`. docs/reference.md has the members. */
export interface FeedStatus extends ReturnType<typeof parseReport> {
  readonly file: string;
  /** Why the report cannot be read, or null. All else is then of the last one that could be read. */
  readonly complaint: string | null;
}

/** Reads the reports of feeds in a snapshot folder. */
export class FeedWatcher {
  readonly #folder: string;
  readonly #log: Logger;
  #polling: Promise<void> | undefined;
  current: readonly FeedStatus[] = [];

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Reads the reports, and forgets those that are gone. Never rejects. Concurrent calls share one poll. */
  poll(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => (this.#polling = undefined));
    return this.#polling;
  }

  async #poll(): Promise<void> {
    // The snapshot watcher complains of a folder that cannot be read.
    const names = await readdir(this.#folder).catch(() => undefined);
    if (names === undefined) return;
    const feeds = [];
    for (const name of names.sort()) {
      const file = name.replace(/\.feed\.json$/, '.sqlite');
      if (file === name || !isSnapshotName(file)) continue;
      const before = this.current.find((one) => one.file === file) ?? NONE;
      const status = await readStatus(join(this.#folder, name), file, before);
      if (faultsOf(status) !== faultsOf(before)) this.#logFaults(status);
      feeds.push(status);
    }
    this.current = feeds;
  }

  /** Logs without reasons: these may have values of records. */
  #logFaults({ file, complaint, failedAt, heldBackCount }: FeedStatus): void {
    const faults = { file, complaint, failedAt, heldBackCount };
    if ((complaint ?? failedAt) !== null) this.#log.error(faults, 'the feed failed; /status has the reason');
    else if (heldBackCount > 0) this.#log.warn(faults, 'the feed holds back organizations; see /status');
    else this.#log.info(faults, 'the feed has no fault any more');
  }
}

/** Returns a text that differs for other faults, but not for other times or lines of them. */
function faultsOf({ complaint, failure, heldBack }: FeedStatus): string {
  return JSON.stringify([complaint, failure, heldBack.map(({ organizationId }) => organizationId)]);
}

async function readStatus(path: string, file: string, before: FeedStatus): Promise<FeedStatus> {
  try {
    // A pipe would otherwise wait for a writer.
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_BYTES + 1));
    if (bytesRead > MAX_BYTES) throw new Error(`it must have at most ${MAX_BYTES} bytes`);
    return { file, complaint: null, ...parseReport(buffer.toString('utf8', 0, bytesRead)) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...before, file, complaint: `${basename(path)} cannot be read: ${reason}` };
  }
}

/** @throws Error that names the wrong member. An absent one is null; others are ignored. */
function parseReport(text: string) {
  const report = parseObject(text);
  if (report === undefined) throw new Error('it must be a JSON object');
  const timeOf = (member: string) => {
    const { [member]: value = null } = report;
    const time = asServed(textIn(value), 'utc') ?? null;
    if (value !== null && time === null)
      throw new Error(`${member} must be a time such as 2026-01-31T19:00:00Z, or null`);
    return time;
  };
  const heldBack = objectsIn(report['heldBack']).map(({ organizationId, reason }) => ({
    organizationId: textIn(organizationId),
    reason: textIn(reason),
  }));
  const failedAt = timeOf('failedAt');
  return {
    startedAt: timeOf('startedAt'),
    endedAt: timeOf('endedAt'),
    publishedAt: timeOf('publishedAt'),
    failedAt,
    failure: failedAt === null ? null : textIn(report['failure']),
    pausedAt: timeOf('pausedAt'),
    heldBackCount: heldBack.length,
    heldBack,
  };
}

/** The status before the first report. */
const NONE: FeedStatus = { file: '', complaint: null, ...parseReport('{}') };
