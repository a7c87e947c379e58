import { totalmem } from 'node:os';
import { expect } from 'chai';
import { MEGABYTE, memoryLimit } from '../../../src/snapshot/admission/memory.ts';

describe('The memory limit', () => {
  const machine = 8 * 1024 * MEGABYTE;
  const limit = (cgroup: number) => memoryLimit(undefined, { machine, cgroup });

  it('is what is configured, whatever the system has', () => {
    const expected = { bytes: 500 * MEGABYTE, source: 'MEMORY_LIMIT_MB' };
    expect(memoryLimit(500, { machine, cgroup: 100 * MEGABYTE })).to.deep.equal(expected);
    expect(memoryLimit(500, { machine: 100 * MEGABYTE, cgroup: 0 })).to.deep.equal(expected);
  });

  it('is that of the cgroup when that has less than the machine', () => {
    expect(limit(512 * MEGABYTE)).to.deep.equal({ bytes: 512 * MEGABYTE, source: 'cgroup' });
  });

  for (const [what, cgroup] of [
    ['sets none (cgroup v2)', 2 ** 64],
    ['sets none (cgroup v1)', 2 ** 63 - 4096],
    ['is not there', 0],
    ['cannot be read', NaN],
    ['has more than the machine', machine + 1],
    ['has as much', machine],
  ] as const) {
    it(`is the memory of the machine when the cgroup ${what}`, () => {
      expect(limit(cgroup)).to.deep.equal({ bytes: machine, source: 'machine' });
    });
  }

  it('is that of the cgroup when the machine does not tell, and none when neither does', () => {
    const cgroup = 512 * MEGABYTE;
    expect(memoryLimit(undefined, { machine: 0, cgroup })).to.deep.equal({ bytes: cgroup, source: 'cgroup' });
    expect(memoryLimit(undefined, { machine: 0, cgroup: 0 }).bytes).to.equal(Infinity);
  });

  it('is asked of this machine', () => {
    expect(memoryLimit().bytes).to.be.within(1, totalmem());
  });
});
