import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { FeedWatcher } from '../../../src/snapshot/watch/feed-watcher.ts';
import { type ReadableLog, readableLog } from '../../support/readable-log.ts';
import { folderForEach } from '../../support/temporary-folder.ts';

const [EARLIER, LATER] = ['2026-11-28T09:12:00Z', '2026-11-28T09:13:00Z'];
const SUCCESS = { startedAt: EARLIER, endedAt: EARLIER, publishedAt: EARLIER };
const FAILURE = { ...SUCCESS, failedAt: LATER, failure: 'the export failed: no route' };
const FAILED = ['error the feed failed; /status has the reason'];
const NO_FAULT = ['info the feed has no fault any more'];
const held = (organizationId: string) => ({ organizationId, reason: `events.ndjson:12: ${organizationId}` });

describe('The watcher of feeds', () => {
  const inFolder = folderForEach();
  let log: ReadableLog;
  let watcher: FeedWatcher;

  beforeEach(() => {
    mkdirSync(inFolder('snapshots'));
    log = readableLog();
    watcher = new FeedWatcher(inFolder('snapshots'), log.log);
  });

  /** Replaces the report of the feed of main.sqlite, and polls. Returns what the status then has of it. */
  async function report(content: object | string) {
    writeFileSync(inFolder('draft'), typeof content === 'string' ? content : JSON.stringify(content));
    renameSync(inFolder('draft'), inFolder('snapshots/main.feed.json'));
    await watcher.poll();
    return watcher.current[0];
  }

  /** Returns the lines of the log since the last call. */
  const logged = () => log.lines.splice(0).map(({ level, msg }) => [level, msg].join(' '));

  it('reads a report with unknown members and without others, in a folder with other files', async () => {
    for (const name of ['main.sqlite', '.hidden.feed.json', '.feed.json', 'feed.json'])
      writeFileSync(inFolder(`snapshots/${name}`), '{}');
    const heldBack = [{ ...held('north'), line: 12 }];
    const startedAt = '2026-11-28T10:12:00+01:00';
    expect(await report({ startedAt, rows: 7, heldBack, endedAt: null })).to.deep.equal({
      file: 'main.sqlite',
      complaint: null,
      startedAt: EARLIER,
      endedAt: null,
      publishedAt: null,
      failedAt: null,
      failure: null,
      pausedAt: null,
      heldBackCount: 1,
      heldBack: [held('north')],
    });
    expect(watcher.current).to.have.lengthOf(1);
  });

  it('forgets a report that is gone, but none while the folder cannot be read', async () => {
    await report(SUCCESS);
    renameSync(inFolder('snapshots'), inFolder('elsewhere'));
    await watcher.poll();
    expect(watcher.current).to.have.lengthOf(1);
    renameSync(inFolder('elsewhere'), inFolder('snapshots'));
    rmSync(inFolder('snapshots/main.feed.json'));
    await watcher.poll();
    expect(watcher.current).to.deep.equal([]);
  });

  for (const [what, content, complaint] of [
    ['is no JSON', '{"startedAt":', 'it must be a JSON object'],
    ['is no object', '[]', 'it must be a JSON object'],
    [
      'has a wrong time',
      { failedAt: 'Monday' },
      'failedAt must be a time such as 2026-01-31T19:00:00Z, or null',
    ],
    ['is too long', ' '.repeat(1_000_001), 'it must have at most 1000000 bytes'],
  ] as const)
    it(`complains of a report that ${what}, once, and keeps the one before`, async () => {
      const before = await report(FAILURE);
      logged();
      const full = `main.feed.json cannot be read: ${complaint}`;
      expect(await report(content)).to.deep.equal({ ...before, complaint: full });
      await watcher.poll();
      expect(logged()).to.deep.equal(FAILED);
      expect(await report(FAILURE)).to.deep.equal(before);
      expect(logged()).to.deep.equal(FAILED);
    });

  it('does not wait for a pipe', async () => {
    execFileSync('mkfifo', [inFolder('snapshots/main.feed.json')]);
    await watcher.poll();
    expect(watcher.current[0].complaint).to.match(/^main\.feed\.json cannot be read: /);
  });

  it('logs when a failure begins, changes and ends, not at each report, and without its text', async () => {
    const lines = [];
    for (const failure of [null, '', 'a', 'a', 'b', null, null, 'b']) {
      await report(failure === null ? SUCCESS : { ...FAILURE, failure });
      lines.push(logged());
    }
    expect(lines).to.deep.equal([[], FAILED, FAILED, [], FAILED, NO_FAULT, [], FAILED]);
  });

  it('logs when an organization is held back and released, not at each report', async () => {
    const lines = [];
    for (const ids of [['north', 'south'], ['north', 'south'], ['south'], []]) {
      await report({ ...SUCCESS, heldBack: ids.map(held) });
      lines.push(logged());
    }
    const heldBack = ['warn the feed holds back organizations; see /status'];
    expect(lines).to.deep.equal([heldBack, [], heldBack, NO_FAULT]);
  });
});
