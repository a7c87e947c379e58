import { OrganizationStore } from './organization-store.ts';
import type { SnapshotImage } from './organization-image.ts';

/** Two snapshot files hold the same organization. */
export class OrganizationConflict extends Error {
  override readonly name = 'OrganizationConflict';
  constructor(organizationId: string, file: string, owner: string) {
    super(
      `${file}: organization "${organizationId}" is already served from ${owner}; it may live in one file only`,
    );
  }
}

interface Entry {
  readonly store: OrganizationStore;
  /** The file that holds it; undefined when that is gone, and another may take its place. */
  readonly file: string | undefined;
}

/** The organization stores that are live, by organization. */
export class StoreRegistry {
  #entries: ReadonlyMap<string, Entry> = new Map();

  get(organizationId: string): OrganizationStore | undefined {
    return this.#entries.get(organizationId)?.store;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Whether a file holds what is served. */
  isLive(file: string): boolean {
    return this.#entries.values().some((entry) => entry.file === file);
  }

  /** Lets go of a file that is gone: its organizations go on serving until another file brings them. */
  release(file: string): void {
    this.#entries = new Map(
      this.#entries
        .entries()
        .map(([id, entry]) => [id, entry.file === file ? { ...entry, file: undefined } : entry]),
    );
  }

  /**
   * Puts the organizations of a snapshot in the place of those that its file held before, in one step.
   * @throws OrganizationConflict when one of them is served from another file; nothing is changed then.
   */
  swap(file: string, snapshot: SnapshotImage): void {
    const entries = new Map(this.#entries);
    for (const image of snapshot.organizations) {
      const owner = entries.get(image.organizationId)?.file;
      if (owner !== undefined && owner !== file) {
        throw new OrganizationConflict(image.organizationId, file, owner);
      }
    }
    for (const [organizationId, entry] of entries) if (entry.file === file) entries.delete(organizationId);
    for (const image of snapshot.organizations) {
      entries.set(image.organizationId, { store: new OrganizationStore(image, snapshot), file });
    }
    this.#entries = entries;
  }
}
