import { totalmem } from 'node:os';
import { expect } from 'chai';
import {
  bytesInUse,
  checkMemory,
  type MemoryLimit,
  memoryLimit,
  type MemoryLimitSource,
  storedBytes,
} from '../../../src/snapshot/admission/memory.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { emptyList } from '../../support/empty-image.ts';
import { times } from '../../support/records.ts';
import { thrownBy } from '../../support/refusal.ts';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';

describe('The memory check', () => {
  const need = { held: 300 * MEGABYTE, peak: 400 * MEGABYTE };
  const limit = (megabytes: number, source: MemoryLimitSource = 'MEMORY_LIMIT_MB'): MemoryLimit => ({
    bytes: megabytes * MEGABYTE,
    source,
  });
  const refusal = (inUse: number, by: MemoryLimit) =>
    thrownBy(() => {
      checkMemory(need, inUse, by);
    }, RefusedSnapshot);
  const sections = (count: number) => times(count, () => emptyList('tickets', ''));

  it('admits a snapshot that just fits, or any without a known limit, and refuses a larger one', () => {
    checkMemory(need, 160 * MEGABYTE, { bytes: Infinity, source: 'machine' });
    checkMemory(need, 160 * MEGABYTE, limit(560));
    expect(refusal(160 * MEGABYTE + 1, limit(560)).reason).to.equal('memory');
  });

  it('counts the sections, and the objects around their shared memory in each thread', () => {
    const [first, ...others] = sections(64);
    const all = [{ ...first, bytesHeld: 300 * MEGABYTE }, ...others];
    expect(storedBytes(all, 1)).to.equal(301 * MEGABYTE);
    expect(storedBytes(all, 3)).to.equal(303 * MEGABYTE);
  });

  it('counts the process and each further thread', () => {
    expect(bytesInUse(0, 1)).to.equal(160 * MEGABYTE);
    expect(bytesInUse(300 * MEGABYTE, 3)).to.equal((160 + 2 * 48 + 300) * MEGABYTE);
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
  const machine = 8 * 1024 * MEGABYTE;
  const limit = (cgroup: number) => memoryLimit(undefined, { machine, cgroup });

  it('is the configured one, whatever the system has', () => {
    const expected = { bytes: 500 * MEGABYTE, source: 'MEMORY_LIMIT_MB' };
    expect(memoryLimit(500, { machine, cgroup: 100 * MEGABYTE })).to.deep.equal(expected);
    expect(memoryLimit(500, { machine: 100 * MEGABYTE, cgroup: 0 })).to.deep.equal(expected);
  });

  it('is that of the cgroup when it is below the memory of the machine', () => {
    expect(limit(512 * MEGABYTE)).to.deep.equal({ bytes: 512 * MEGABYTE, source: 'cgroup' });
  });

  it('is the memory of the machine when the cgroup has no lower limit, or none that is known', () => {
    const [none, noneInVersion1] = [2 ** 64, 2 ** 63 - 4096];
    for (const cgroup of [none, noneInVersion1, 0, NaN, machine + 1, machine])
      expect(limit(cgroup)).to.deep.equal({ bytes: machine, source: 'machine' });
  });

  it('is that of the cgroup when the machine memory is unknown, and infinite when both are', () => {
    const cgroup = 512 * MEGABYTE;
    expect(memoryLimit(undefined, { machine: 0, cgroup })).to.deep.equal({ bytes: cgroup, source: 'cgroup' });
    expect(memoryLimit(undefined, { machine: 0, cgroup: 0 }).bytes).to.equal(Infinity);
  });

  it('is read from this machine by default', () => {
    expect(memoryLimit().bytes).to.be.within(1, totalmem());
  });
});
