import { totalmem } from 'node:os';
import { expect } from 'chai';
import { memoryLimit } from '../../../src/snapshot/admission/memory.ts';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';

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
