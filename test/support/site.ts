import { makeDemoSnapshot } from '../../scripts/demo/make-demo-snapshot.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { newCredential, ReplicaUnderTest } from './replica-under-test.ts';
import { folderForAll, type InFolder } from './temporary-folder.ts';

/** A replica in its own process, with the sample data of the demo. */
export interface Site {
  readonly replica: ReplicaUnderTest;
  readonly inFolder: InFolder;
  /** Credential of the first organization. */
  readonly credential: string;
}

/** Provides a site for the tests of the calling suite. */
export function givenSite(environment: Readonly<Record<string, string>> = {}): { readonly site: Site } {
  const inFolder = folderForAll();
  let site: Site | undefined;
  before(async () => {
    const snapshot = inFolder('snapshots/demo.sqlite');
    await makeDemoSnapshot(snapshot);
    const [{ organizationId }] = inspectSnapshot(snapshot).organizations;
    const credential = newCredential(inFolder, organizationId);
    const replica = await ReplicaUnderTest.startReady(inFolder, environment);
    site = { replica, inFolder, credential };
  });
  after(() => site?.replica.end());
  return {
    get site() {
      if (site === undefined) throw new Error('not started yet');
      return site;
    },
  };
}
