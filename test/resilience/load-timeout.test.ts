import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { alteredCopy, asSnapshot, snapshotIdOf } from '../system/altered-snapshot.ts';
import type { Fault } from './faulty-loader.ts';
import { markedImport } from '../system/marked-import.ts';

const PRELOADED = new URL('faulty-loader.ts', import.meta.url).href;

/** Loads that do not end, as on a disk that does not respond. The second thread cannot be ended either. */
const ENDLESS: readonly Fault[] = [
  'waits before it reads tickets',
  'is blocked in the system before it reads orders',
];

describe('A load that exceeds LOAD_TIMEOUT_SECONDS', () => {
  const inFolder = folderForAll();
  let replica: ReplicaUnderTest;
  let credential: string;
  let next = 1;

  before(async () => {
    mkdirSync(inFolder('snapshots'));
    writeImport(inFolder('import'), markedImport(['north'], 1));
    await build(inFolder('import'), inFolder('built'));
    credential = newCredential(inFolder, 'north');
    replica = await ReplicaUnderTest.start(inFolder, {
      NODE_OPTIONS: `--import=${PRELOADED}`,
      FAULT_FILE: inFolder('fault'),
      LOAD_TIMEOUT_SECONDS: '3',
    });
    await goLive();
  });
  after(() => replica.end());

  function publish(): string {
    const n = next++;
    const draft = alteredCopy(inFolder('built'), inFolder('draft'), asSnapshot(n));
    renameSync(draft, join(inFolder('snapshots'), 'north.sqlite'));
    return snapshotIdOf(n);
  }

  async function goLive(): Promise<string> {
    const snapshotId = publish();
    await replica.waitForLog({ msg: 'snapshot live', snapshotId });
    return snapshotId;
  }

  const served = async () =>
    (await replica.request('/v1/tickets', credential)).headers['service-snapshot-id'];

  for (const fault of ENDLESS) {
    it(`is refused, and later loads go live: the loader ${fault}`, async () => {
      const before = await served();
      const seen = replica.log.length;
      writeFileSync(inFolder('fault'), fault);
      publish();
      const refused = await replica.waitForLog({ msg: 'snapshot refused' }, seen);
      rmSync(inFolder('fault'));
      expect(refused).to.include({ reason: 'timeout', detail: 'it was not loaded within 3 s' });
      expect(await served()).to.equal(before);
      const after = await goLive();
      expect(await served()).to.equal(after);
      const { text } = await replica.requestAdmin('/metrics');
      expect(text).to.match(/^foyer_snapshot_refusals_total\{reason="timeout"\} [1-9]/m);
    });
  }
});
