import {
  type ListImage,
  type ListName,
  type OrganizationStore,
  runsIn,
  type SectionImage,
  sectionsOf,
  type SnapshotOrigin,
} from '../organization-image.ts';
import type { SharedRun, SharedRuns } from '../records.ts';

/** A section of an organization, with the latest snapshot that has it. */
export interface Section<Image extends SectionImage = SectionImage> extends SnapshotOrigin {
  readonly organizationId: string;
  readonly image: Image;
}

export function sectionOf(
  { organizationId, snapshotId, producedAt, lists }: OrganizationStore,
  list: ListName,
): Section<ListImage> {
  return { organizationId, snapshotId, producedAt, image: lists[list] };
}

/** The data that requests can reach. A view is immutable; a swap creates another one. */
export class StoreView {
  readonly live: ReadonlyMap<string, OrganizationStore>;
  /** Replaced sections that are kept for walks, by `keyOf`. */
  readonly retained: ReadonlyMap<string, Section>;

  constructor(live: ReadonlyMap<string, OrganizationStore>, retained: readonly Section[]) {
    this.live = live;
    this.retained = new Map(retained.map((one) => [keyOf(one.organizationId, one.image), one]));
  }

  /** Returns a list with the given content, live or retained. */
  find(organizationId: string, list: ListName, digest: string): Section<ListImage> | undefined {
    const live = this.live.get(organizationId);
    if (live?.lists[list].digest === digest) return sectionOf(live, list);
    const found = this.retained.get(keyOf(organizationId, { name: list, digest }));
    return found === undefined || found.image.name === 'history'
      ? undefined
      : { ...found, image: found.image };
  }

  /** Returns whether a section is live or retained. */
  holds(organizationId: string, image: SectionImage): boolean {
    const live = this.live.get(organizationId);
    if (live !== undefined && sectionsOf(live).includes(image)) return true;
    return this.retained.get(keyOf(organizationId, image))?.image === image;
  }
}

export const EMPTY_VIEW = new StoreView(new Map(), []);

/** Returns a key that a section shares with those of the same content. */
export function keyOf(
  organizationId: string,
  { name, digest }: Pick<SectionImage, 'name' | 'digest'>,
): string {
  // Neither an organization id nor a digest contains a space.
  return `${organizationId} ${name} ${digest}`;
}

/** What a load does not make again: runs, and lists that have some. The others are small. */
export interface KnownContent {
  readonly runs: SharedRuns;
  /** By `keyOf`. */
  readonly lists: ReadonlyMap<string, ListImage>;
}

export function contentOf(sections: Iterable<Pick<Section, 'organizationId' | 'image'>>): KnownContent {
  const runs = new Map<string, SharedRun>();
  const lists = new Map<string, ListImage>();
  for (const { organizationId, image } of sections) {
    const own = runsIn([image]);
    for (const [key, run] of own) runs.set(key, run);
    if (own.size > 0 && image.name !== 'history') lists.set(keyOf(organizationId, image), image);
  }
  return { runs, lists };
}
