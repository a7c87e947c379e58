import { expect } from 'chai';
import {
  checkMemory,
  type MemoryLimit,
  type MemoryLimitSource,
  roomBeside,
  type StoredMemory,
} from '../../../src/snapshot/admission/memory.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { thrownBy } from '../format/refusal.ts';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';

describe('The memory check', () => {
  const need = { held: 300 * MEGABYTE, peak: 400 * MEGABYTE };
  const nothing = { bytesHeld: 0, sections: 0, threads: 1 };
  const limit = (megabytes: number, source: MemoryLimitSource = 'MEMORY_LIMIT_MB'): MemoryLimit => ({
    bytes: megabytes * MEGABYTE,
    source,
  });
  const refusal = (stored: StoredMemory, by: MemoryLimit) =>
    thrownBy(() => {
      checkMemory(need, stored, by);
    }, RefusedSnapshot);

  it('admits a snapshot that just fits, or any without a known limit, and refuses a larger one', () => {
    expect(roomBeside(need.peak, nothing, { bytes: Infinity, source: 'machine' })).to.equal(Infinity);
    expect(roomBeside(need.peak, nothing, limit(560))).to.equal(0);
    checkMemory(need, nothing, limit(560));
    expect(roomBeside(need.peak, nothing, limit(559))).to.equal(-MEGABYTE);
    expect(refusal(nothing, limit(559)).reason).to.equal('memory');
  });

  it('counts the stores, which stay during the load', () => {
    const stored = { bytesHeld: 300 * MEGABYTE, sections: 64, threads: 1 };
    expect(roomBeside(need.peak, stored, limit(861))).to.equal(0);
    expect(roomBeside(need.peak, stored, limit(860))).to.equal(-MEGABYTE);
  });

  it('counts each further thread, and its objects around the shared memory', () => {
    const stored = { bytesHeld: 0, sections: 64, threads: 3 };
    const missing = 2 * 48 * MEGABYTE + 3 * MEGABYTE;
    expect(roomBeside(need.peak, stored, limit(560))).to.equal(-missing);
  });

  it('reports the need, the use, the limit with its source, and a remedy', () => {
    const stored = { bytesHeld: 300 * MEGABYTE, sections: 1, threads: 1 };
    for (const [source, sourceAndRemedy] of [
      ['MEMORY_LIMIT_MB', 'MEMORY_LIMIT_MB: 61 MB is missing; raise MEMORY_LIMIT_MB'],
      ['cgroup', 'the cgroup or container: 61 MB is missing; give it more memory'],
      ['machine', 'the machine: 61 MB is missing; use a machine with more memory'],
    ] as const) {
      expect(refusal(stored, limit(800, source)).message).to.equal(
        'loading it needs 400 MB (300 MB of it permanently), 461 MB is in use, and the limit is 800 MB, set by ' +
          `${sourceAndRemedy}, or divide the organizations among several snapshot files, ` +
          'which are loaded one after the other',
      );
    }
  });
});
