import { readdirSync } from 'node:fs';

/** Connections that the admin port accepts. A browser that loads the status page opens six. */
export const MAX_ADMIN_CONNECTIONS = 32;
/** Files that the process opens later: for the admin port, keys, snapshots, the thread of a load, a new worker. */
const RESERVED = MAX_ADMIN_CONNECTIONS + 16;
/** Files that a process has open where the system does not list them. */
const UNLISTED = 64;

/**
 * Returns how many connections the limit of open files allows. Call it when all threads are started.
 * @throws an error in the form of the system's when it allows none
 */
export function openFilesForConnections(): number {
  const limit = openFilesLimit();
  const required = openFiles() + RESERVED;
  if (limit > required) return limit - required;
  const message = `the process may have ${limit} open files, and requires more than ${required}: raise the limit (ulimit -n)`;
  throw Object.assign(new Error(message), { code: 'EMFILE', syscall: 'open' });
}

function openFiles(): number {
  try {
    return readdirSync('/dev/fd').length;
  } catch {
    return UNLISTED;
  }
}

/** Returns the limit of the system; Infinity without one, as on Windows. */
function openFilesLimit(): number {
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | 'unlimited' } };
  };
  const { soft = 'unlimited' } = userLimits?.open_files ?? {};
  return soft === 'unlimited' ? Infinity : soft;
}
