import { totalmem } from 'node:os';
import { expect } from 'chai';
import {
  bytesInUse,
  checkMemory,
  type MemoryLimit,
  memoryLimit,
} from '../../../src/snapshot/admission/memory.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { thrownBy } from '../../support/refusal.ts';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';

describe('The memory check', () => {
  const need = { held: 300 * MEGABYTE, peak: 400 * MEGABYTE };
  const limit = (megabytes: number, source: MemoryLimit['source'] = 'MEMORY_LIMIT_MB'): MemoryLimit => ({
    bytes: megabytes * MEGABYTE,
    source,
  });
  const refusal = (inUse: number, by: MemoryLimit) =>
    thrownBy(() => {
      checkMemory(need, inUse, by);
    }, RefusedSnapshot);

  it('admits a snapshot that just fits, or any without a known limit, and refuses a larger one', () => {
    checkMemory(need, 160 * MEGABYTE, { bytes: Infinity, source: 'machine' });
    checkMemory(need, 160 * MEGABYTE, limit(560));
    expect(refusal(160 * MEGABYTE + 1, limit(560)).reason).to.equal('memory');
  });

  it('counts the process, each further thread, the data, and in each thread the objects around it', () => {
    expect(bytesInUse(0, 0, 1)).to.equal(160 * MEGABYTE);
    expect(bytesInUse(300 * MEGABYTE, 64, 3)).to.equal((160 + 2 * 48 + 300 + 3 * 5) * MEGABYTE);
  });

  it('reports the need, the use, the limit with its source, and a remedy', () => {
    const inUse = 460.1 * MEGABYTE;
    for (const [source, sourceAndRemedy] of [
      ['MEMORY_LIMIT_MB', 'MEMORY_LIMIT_MB: 61 MB is missing; raise MEMORY_LIMIT_MB'],
      ['cgroup', 'the cgroup or container: 61 MB is missing; give it more memory'],
      ['machine', 'the machine: 61 MB is missing; use a machine with more memory'],
    ] as const) {
      expect(refusal(inUse, limit(800, source)).message).to.equal(
        'loading it needs 400 MB (300 MB of it permanently), 461 MB is in use, and the limit is 800 MB, set by ' +
          `${sourceAndRemedy}, or divide the organizations among several snapshot files, ` +
          'which are loaded one after the other',
      );
    }
  });
});

describe('The memory limit', () => {
  const MACHINE = 8 * 1024 * MEGABYTE;
  const UNLIMITED = [2 ** 64, 2 ** 63 - 4096, 0, NaN, MACHINE + 1, MACHINE];
  for (const [what, megabytes, machine, cgroup, bytes, source] of [
    ['the configured one', 500, MACHINE, 100 * MEGABYTE, 500 * MEGABYTE, 'MEMORY_LIMIT_MB'],
    ['the configured one', 500, 100 * MEGABYTE, 0, 500 * MEGABYTE, 'MEMORY_LIMIT_MB'],
    ['the lower one of the cgroup', undefined, MACHINE, 512 * MEGABYTE, 512 * MEGABYTE, 'cgroup'],
    ['that of the cgroup', undefined, 0, 512 * MEGABYTE, 512 * MEGABYTE, 'cgroup'],
    ...UNLIMITED.map(
      (cgroup) => ['the memory of the machine', undefined, MACHINE, cgroup, MACHINE, 'machine'] as const,
    ),
    ['unknown, and thus infinite', undefined, 0, 0, Infinity, 'machine'],
  ] as const) {
    it(`is ${what}, with ${machine} bytes of the machine and ${cgroup} of the cgroup`, () => {
      expect(memoryLimit(megabytes, { machine, cgroup })).to.deep.equal({ bytes, source });
    });
  }

  it('is read from this machine by default', () => {
    expect(memoryLimit().bytes).to.be.within(1, totalmem());
  });
});
