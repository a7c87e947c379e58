export const SNAPSHOT_SUFFIX = '.sqlite';

/** Whether a file of the snapshot folder is one to serve, by its name. Others are not ours, such as those being written. */
export function isSnapshotName(name: string): boolean {
  return /^(?!\.)[^/\p{Cc}]+$/u.test(name) && name.endsWith(SNAPSHOT_SUFFIX);
}
