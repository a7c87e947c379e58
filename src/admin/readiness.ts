import { type AdminDependencies, liveSnapshots } from './admin-state.ts';

/** Whether requests should be sent here. */
export interface Readiness {
  readonly isReady: boolean;
  /** Why not, each for a person to act on; none when it is ready. */
  readonly reasons: readonly string[];
}

/**
 * Ready is a process that does not stop, answers, has keys and data, and serves nothing older than the limit. A thread
 * that is being replaced changes nothing of that, as long as there is another. Each file counts
 * by itself, one that is gone from the folder too while its organizations are served: ready means that no caller is
 * given data that is too old.
 */
export function readinessOf(dependencies: AdminDependencies): Readiness {
  const reasons = [...reasonsOf(dependencies)];
  return { isReady: reasons.length === 0, reasons };
}

function* reasonsOf(dependencies: AdminDependencies): Generator<string> {
  const { stores, keys, keysFile, keysComplaint, workers, clock, isStopping } = dependencies;
  const { maxSnapshotAgeSeconds: limit = Infinity } = dependencies;
  if (isStopping()) yield 'The process is stopping. Send requests to another.';
  if (!workers.hasListened) yield 'The threads that answer requests have not started yet.';
  else if (workers.listening === 0) yield 'No thread answers requests: the log tells why they end.';
  if (stores.view.isEmpty) yield whyEmpty(dependencies);
  if (keys() === undefined) {
    const complaint = keysComplaint();
    yield complaint === undefined
      ? `There is no keys file at ${keysFile}. Create a key, or see to KEYS_FILE.`
      : `The keys file at ${keysFile} cannot be used: ${complaint}.`;
  }
  for (const { file, isFilePresent, producedAt, ageSeconds } of liveSnapshots(stores, clock())) {
    if (ageSeconds <= limit) continue;
    const age = `${file} was produced at ${producedAt}, ${Math.floor(ageSeconds)} s ago; MAX_SNAPSHOT_AGE_SECONDS is ${limit}.`;
    yield isFilePresent
      ? `${age} Publish a newer snapshot.`
      : `${age} The file is gone, but what it held is served: publish a newer one, or restart to serve no more of it.`;
  }
}

function whyEmpty({ history, snapshotDir, snapshotsComplaint }: AdminDependencies): string {
  const complaint = snapshotsComplaint();
  if (complaint !== undefined) return `The snapshot folder ${snapshotDir} cannot be looked at: ${complaint}.`;
  if (history.refused.length > 0) return 'No snapshot is live, and some were refused: /status tells why.';
  if (history.loading !== undefined)
    return `No snapshot is live yet: ${history.loading.file} is being loaded.`;
  return `No snapshot is live. Publish one into the snapshot folder ${snapshotDir}, or see to SNAPSHOT_DIR.`;
}
