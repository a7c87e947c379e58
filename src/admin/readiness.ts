import { type AdminDependencies, liveSnapshots } from './admin-state.ts';

/**
 * Returns the reasons why the process is not ready, each with a remedy.
 *
 * A ready process is not stopping. It has a listening worker, keys and data, and no live snapshot above the age limit.
 * The limit holds for each snapshot file, removed ones included: no client of a ready process receives older data.
 */
export function reasonsNotReady(dependencies: AdminDependencies): string[] {
  const { config, stores, keys, workers } = dependencies;
  const reasons: string[] = [];
  if (workers.isStopping()) reasons.push('The process is stopping. Send requests to another one.');
  if (!workers.hasListened) reasons.push('The threads that answer requests have not started yet.');
  else if (workers.listening === 0) reasons.push('No worker is listening. See the log.');
  if (stores.live.size === 0) reasons.push(reasonWithoutSnapshot(dependencies));
  if (keys.current === undefined) {
    reasons.push(
      keys.complaint === undefined
        ? `There is no keys file at ${config.keysFile}. Create a key, or correct KEYS_FILE.`
        : `The keys file at ${config.keysFile} cannot be used: ${keys.complaint}.`,
    );
  }
  const limit = config.maxSnapshotAgeSeconds ?? Infinity;
  for (const { file, isFilePresent, producedAt, ageSeconds } of liveSnapshots(dependencies)) {
    if (ageSeconds <= limit) continue;
    const remedy = isFilePresent
      ? 'Publish a newer snapshot.'
      : 'The file was removed, but its organizations stay live: publish a newer snapshot, or restart the process to remove them.';
    reasons.push(
      `${file} was produced at ${producedAt}, ${Math.floor(ageSeconds)} s ago; MAX_SNAPSHOT_AGE_SECONDS is ${limit}. ${remedy}`,
    );
  }
  return reasons;
}

function reasonWithoutSnapshot({ config, history, snapshots }: AdminDependencies): string {
  const folder = config.snapshotDir;
  if (snapshots.complaint !== undefined)
    return `The snapshot folder ${folder} cannot be read: ${snapshots.complaint}.`;
  if (history.refused.length > 0)
    return 'No snapshot is live, and some were refused. See /status for the reasons.';
  if (history.loading !== undefined)
    return `No snapshot is live yet: ${history.loading.file} is being loaded.`;
  return `No snapshot is live. Publish one into the snapshot folder ${folder}, or correct SNAPSHOT_DIR.`;
}
