import { findRecord } from '../../store/index/id-index.ts';
import { hashText, type Texts } from '../../store/index/texts.ts';
import type { Row } from '../../store/memory/shared-arrays.ts';
import type { CollectionName } from '../../contract/operations.ts';
import type { CollectionImage } from '../../store/organization-image.ts';
import type { KnownList } from '../../store/registry/store-view.ts';
import type { EarlierRecords } from '../../store/records-builder.ts';
import { isRecord } from '../../store/records.ts';

/** Finds records in lists in memory. */
export class KnownRecords {
  readonly images: readonly CollectionImage[];
  readonly records: readonly EarlierRecords[];
  /** Hash of the id that was looked up last. */
  hash = 0;
  /** Place of the last record that was found. */
  image: CollectionImage | undefined;
  row: Row = -1;

  constructor(known: readonly KnownList[], collection: CollectionName) {
    const shared = known.flatMap(({ image: { collections }, stays }) => {
      const { [collection]: image } = collections;
      return image.records.isShared ? [{ image, stays }] : [];
    });
    this.images = shared.map(({ image }) => image);
    this.records = shared.map(({ image: { records }, stays }) => ({ records, stays }));
    this.image = this.images.at(0);
  }

  /** Finds the record `bytes[start … end]`, whose id is text `i` of `ids`. The successor of the last one is likely. */
  find(bytes: Buffer, start: number, end: number, ids: Texts, i: number): boolean {
    const { image, row } = this;
    if (image !== undefined && row + 1 < image.count && isRecord(image.records, row + 1, bytes, start, end)) {
      this.row++;
      this.hash = image.ids.hashes[row + 1];
      return true;
    }
    this.hash = hashText(ids, i);
    for (const other of this.images) {
      const found = findRecord(other.ids, other.records, this.hash, bytes, start, end);
      if (found < 0) continue;
      [this.image, this.row] = [other, found];
      return true;
    }
    return false;
  }
}
