import {
  type HistoryImage,
  type ListImage,
  type ListName,
  type OrganizationImage,
  type SectionImage,
  sectionsOf,
  type SnapshotOrigin,
} from '../organization-image.ts';

/** A section of an organization, with the latest snapshot that has it. */
export interface Section<Image extends SectionImage = SectionImage> extends SnapshotOrigin {
  readonly organizationId: string;
  readonly image: Image;
}

/** A replaced section, retained for the walks that use it. */
export interface RetainedSection extends Section {
  readonly file: string;
  /** Milliseconds of the monotonic clock. */
  readonly replacedAt: number;
}

export type OwnedImage = Pick<Section, 'organizationId' | 'image'>;

/** What identifies a section of an organization. */
export type SectionContent = Pick<SectionImage, 'name' | 'digest'>;

/** The data of an organization that requests can reach. */
export interface OrganizationStore extends OrganizationImage, SnapshotOrigin {
  /** The latest production time of the organization that was live so far, microseconds since the epoch. */
  readonly latestInstant: bigint;
  /** Replaced sections that are kept for walks. */
  readonly retained: readonly RetainedSection[];
}

/** Returns all sections of an organization in memory. */
export function sectionsIn(store: OrganizationStore | undefined): SectionImage[] {
  return store === undefined ? [] : [...sectionsOf(store), ...store.retained.map(({ image }) => image)];
}

/** By organization. A view is immutable; a swap creates another one. */
export type StoreView = ReadonlyMap<string, OrganizationStore>;

/** Returns a list with the given content, live or retained; by default the live one. */
export function findList(
  { organizationId, snapshotId, producedAt, lists, retained }: OrganizationStore,
  name: ListName,
  digest = lists[name].digest,
): Section<ListImage> | undefined {
  const live = lists[name];
  if (live.digest === digest) return { organizationId, snapshotId, producedAt, image: live };
  for (const { image, ...section } of retained)
    if (image.name !== 'history' && image.name === name && image.digest === digest)
      return { ...section, image };
  return undefined;
}

/** Returns the image of some content, live or retained. */
export function imageOf(
  store: OrganizationStore | undefined,
  { name, digest }: SectionContent,
): SectionImage | undefined {
  const live = name === 'history' ? store?.history : store?.lists[name];
  if (live?.digest === digest) return live;
  return store?.retained.find(({ image }) => image.name === name && image.digest === digest)?.image;
}

/** Returns a key that a section shares with those of the same content. */
export function keyOf(organizationId: string, { name, digest }: SectionContent): string {
  // Neither an organization id nor a digest contains a space.
  return `${organizationId} ${name} ${digest}`;
}

/** A list in memory, with its organization. */
export interface KnownList extends Pick<Section<ListImage>, 'organizationId' | 'image'> {
  /** Whether it stays in memory beside the snapshot that is loaded. */
  readonly stays: boolean;
  /** The history of the live list, if the snapshot that is loaded descends from the live one. */
  readonly history?: Pick<HistoryImage, 'until' | 'changes'> | undefined;
}

/** The answer to a declared snapshot. */
export interface Admitted {
  /** Lists whose records the load may share. */
  readonly known: readonly KnownList[];
  /** Organizations with the same records in memory, of an ancestor with a production time. */
  readonly same?: { readonly until: bigint; readonly organizationIds: ReadonlySet<string> } | undefined;
  /** If not, the bytes of records decide that are in none of them. */
  readonly isAdmitted: boolean;
}
