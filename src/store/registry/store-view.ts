import {
  type ListImage,
  type ListName,
  type OrganizationStore,
  type SectionImage,
  type SnapshotOrigin,
} from '../organization-image.ts';

/** A section of an organization, with the latest snapshot that has it. */
export interface Section<Image extends SectionImage = SectionImage> extends SnapshotOrigin {
  readonly organizationId: string;
  readonly image: Image;
}

export type OwnedImage = Pick<Section, 'organizationId' | 'image'>;

/** What identifies a section of an organization. */
export type SectionContent = Pick<SectionImage, 'name' | 'digest'>;

export function sectionOf(
  { organizationId, snapshotId, producedAt, lists }: OrganizationStore,
  list: ListName,
): Section<ListImage> {
  return { organizationId, snapshotId, producedAt, image: lists[list] };
}

/** The data that requests can reach. A view is immutable; a swap creates another one. */
export class StoreView {
  readonly live: ReadonlyMap<string, OrganizationStore>;
  /** By organization: replaced sections that are kept for walks. */
  readonly retained: ReadonlyMap<string, readonly Section[]>;

  constructor(
    live: ReadonlyMap<string, OrganizationStore>,
    retained: ReadonlyMap<string, readonly Section[]>,
  ) {
    this.live = live;
    this.retained = retained;
  }

  /** Returns a list with the given content, live or retained. */
  find(organizationId: string, list: ListName, digest: string): Section<ListImage> | undefined {
    const live = this.live.get(organizationId);
    if (live?.lists[list].digest === digest) return sectionOf(live, list);
    const found = this.#retained(organizationId, { name: list, digest });
    return found === undefined || found.image.name === 'history'
      ? undefined
      : { ...found, image: found.image };
  }

  /** Returns whether the content of a section is live or retained. */
  holds(organizationId: string, image: SectionImage): boolean {
    return this.imageOf(organizationId, image) !== undefined;
  }

  /** Returns the image of some content, live or retained. */
  imageOf(organizationId: string, content: SectionContent): SectionImage | undefined {
    const live = this.live.get(organizationId);
    const image = content.name === 'history' ? live?.history : live?.lists[content.name];
    return image?.digest === content.digest ? image : this.#retained(organizationId, content)?.image;
  }

  #retained(organizationId: string, { name, digest }: SectionContent): Section | undefined {
    const retained = this.retained.get(organizationId);
    return retained?.find(({ image }) => image.name === name && image.digest === digest);
  }
}

export const EMPTY_VIEW = new StoreView(new Map(), new Map());

/** Returns a key that a section shares with those of the same content. */
export function keyOf(organizationId: string, { name, digest }: SectionContent): string {
  // Neither an organization id nor a digest contains a space.
  return `${organizationId} ${name} ${digest}`;
}

/** A list in memory, with its organization. */
export interface KnownList extends Pick<Section<ListImage>, 'organizationId' | 'image'> {
  /** Whether it stays in memory beside the snapshot that is loaded. */
  readonly stays: boolean;
}

/** The answer to a declared snapshot. */
export interface Admitted {
  /** Lists whose records the load may share. */
  readonly known: readonly KnownList[];
  /** If not, the bytes of records decide that are in none of them. */
  readonly isAdmitted: boolean;
}
