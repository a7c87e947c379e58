import { totalmem } from 'node:os';

/** Bytes of one of the megabytes that operators write and read, as `MEMORY_LIMIT_MB` and as containers count them. */
export const MEGABYTE = 1024 * 1024;

/** What sets the limit, as it is named to operators. */
export type MemoryLimitSource = 'MEMORY_LIMIT_MB' | 'cgroup' | 'machine';

/** How much memory the process may have. */
export interface MemoryLimit {
  readonly bytes: number;
  readonly source: MemoryLimitSource;
}

/** What the system says, in bytes; 0 where it does not know. */
export interface SystemMemory {
  readonly machine: number;
  readonly cgroup: number;
}

/**
 * The limit that is configured, else the least that the system sets. Infinite when nothing is known.
 *
 * Without a limit, or with one that cannot be read, `process.constrainedMemory()` gives 0 or a number beyond any
 * machine: 2^64 - 1, or 2^63 less a page (https://docs.libuv.org/en/v1.x/misc.html#c.uv_get_constrained_memory).
 */
export function memoryLimit(configuredMegabytes?: number, system = systemMemory()): MemoryLimit {
  if (configuredMegabytes !== undefined) {
    return { bytes: configuredMegabytes * MEGABYTE, source: 'MEMORY_LIMIT_MB' };
  }
  const machine = system.machine > 0 ? system.machine : Infinity;
  return system.cgroup > 0 && system.cgroup < machine
    ? { bytes: system.cgroup, source: 'cgroup' }
    : { bytes: machine, source: 'machine' };
}

function systemMemory(): SystemMemory {
  return { machine: totalmem(), cgroup: process.constrainedMemory() };
}
