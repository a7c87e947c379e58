import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { asServed } from '../../contract/timestamp.ts';
import { objectsIn, parseObject, textIn } from '../format/json-values.ts';
import { isSnapshotName } from '../format/snapshot-file.ts';
import { stampOf } from './snapshot-folder.ts';

/** Bounds, since any job may write a report. */
const MAX_BYTES = 1_000_000;
const MAX_HELD_BACK = 1000;

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
  /** By file: that of the last report. */
  readonly #versions = new Map<string, string>();
  #polling: Promise<void> | undefined;
  current: readonly FeedStatus[] = [];

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Reads the reports that changed, and forgets those that are gone. Never rejects. Concurrent calls share one poll. */
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
      const [file, path] = [name.replace(/\.feed\.json$/, '.sqlite'), join(this.#folder, name)];
      const seen = file !== name && isSnapshotName(file) ? await stampOf(path) : undefined;
      if (seen === undefined) continue;
      const before = this.current.find((one) => one.file === file);
      const isRead = before !== undefined && this.#versions.get(file) === seen.version;
      const status = isRead ? before : await readStatus(path, file, before);
      this.#versions.set(file, seen.version);
      if (!isRead) this.#logChange(status, before);
      feeds.push(status);
    }
    this.current = feeds;
  }

  /** Logs faults that begin or end, without reasons: these may have values of records. */
  #logChange({ file, complaint, failedAt, failure, heldBack }: FeedStatus, before?: FeedStatus): void {
    const log = this.#log;
    if (complaint !== null) log.error({ file, reason: complaint }, 'the report of a feed cannot be read');
    if (failure === null && (before?.failure ?? null) !== null) log.info({ file }, 'the feed succeeds again');
    if (failure !== null && failure !== before?.failure)
      log.error({ file, failedAt }, 'the feed failed; /status has the reason');
    const idsOf = (held: FeedStatus['heldBack'] = []) => new Set(held.map((one) => one.organizationId));
    const [held, former] = [idsOf(heldBack), idsOf(before?.heldBack)];
    for (const organizationId of held.difference(former))
      log.warn({ file, organizationId }, 'the feed holds back an organization; /status has the reason');
    for (const organizationId of former.difference(held))
      log.info({ file, organizationId }, 'the feed no longer holds back an organization');
  }
}

async function readStatus(path: string, file: string, before?: FeedStatus): Promise<FeedStatus> {
  try {
    // A pipe would otherwise wait for a writer.
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_BYTES + 1));
    if (bytesRead > MAX_BYTES) throw new Error(`it must have at most ${MAX_BYTES} bytes`);
    return { file, complaint: null, ...parseReport(buffer.toString('utf8', 0, bytesRead)) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const complaint = `${basename(path)} cannot be read: ${reason}`;
    return { ...(before ?? parseReport('{}')), file, complaint };
  }
}

/** @throws Error that names the wrong member. An absent one is null; others are ignored. */
function parseReport(text: string) {
  const report = parseObject(text);
  if (report === undefined) throw new Error('it must be a JSON object');
  const timeOf = (member: string) => {
    const { [member]: value = null } = report;
    const time = asServed(textIn(value), 'utc') ?? null;
    if (value !== time && time === null)
      throw new Error(`${member} must be a time such as 2026-01-31T19:00:00Z, or null`);
    return time;
  };
  const heldBack = objectsIn(report['heldBack']);
  const failedAt = timeOf('failedAt');
  return {
    startedAt: timeOf('startedAt'),
    endedAt: timeOf('endedAt'),
    publishedAt: timeOf('publishedAt'),
    failedAt,
    failure: failedAt === null ? null : textIn(report['failure']),
    pausedAt: timeOf('pausedAt'),
    heldBackCount: heldBack.length,
    heldBack: heldBack.slice(0, MAX_HELD_BACK).map(({ organizationId, reason }) => ({
      organizationId: textIn(organizationId),
      reason: textIn(reason),
    })),
  };
}
