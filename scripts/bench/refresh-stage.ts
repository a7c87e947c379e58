import { join } from 'node:path';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { inspectSnapshot } from '../../src/snapshot/inspect-snapshot.ts';
import type { ReplicaFiles } from './replica-process.ts';
import { makeSnapshotPair } from './snapshot-pair.ts';

/** All that the processes of the bench need. */
export interface RefreshStage {
  readonly files: ReplicaFiles;
  readonly credential: string;
  /** Ends all of it. */
  readonly signal: AbortSignal;
}

/** Makes two snapshots and a key in a folder. */
export async function buildRefreshStage(
  folder: string,
  tickets: number,
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<RefreshStage> {
  const snapshots = await makeSnapshotPair(folder, tickets, signal, onProgress);
  const [{ organizationId }] = inspectSnapshot(snapshots[0]).organizations;
  const keysFile = join(folder, 'keys.sqlite');
  const credential = formatCredential(new KeysFile(keysFile).create(organizationId, 'bench', new Date()));
  return { files: { folder, snapshots, keysFile }, credential, signal };
}
