import type { OrganizationDiff, RecordsDiff } from '../../../scripts/diff/diff-snapshots.ts';
import type { CollectionName } from '../../../src/contract/operations.ts';
import { byCollection } from '../../../src/snapshot/format/layout.ts';
import type { SnapshotImage } from '../../../src/store/organization-image.ts';
import { digestsOf, type ImportRecord, organizationOf, recordsOf } from '../../support/import-folder.ts';

/** Finds the differences of two snapshots by comparing the texts of all records. */

export interface Side {
  readonly image: SnapshotImage;
  /** The imported lines of sessions and offers, with the fields that their records do not have. */
  readonly files: { readonly sessions: readonly ImportRecord[]; readonly offers: readonly ImportRecord[] };
}

type Texts = ReadonlyMap<string, string>;

export function differences(before: Side, after: Side): OrganizationDiff[] {
  const [earlier, later] = [before, after].map(({ image }) => Object.keys(digestsOf(image)));
  return [...new Set([...earlier, ...later])].sort().map((organizationId): OrganizationDiff => {
    const a = (collection: CollectionName) => textsOf(before, organizationId, collection);
    const b = (collection: CollectionName) => textsOf(after, organizationId, collection);
    if (!later.includes(organizationId))
      return { organizationId, state: 'removed', before: byCollection(({ name }) => a(name).size) };
    if (!earlier.includes(organizationId))
      return { organizationId, state: 'added', after: byCollection(({ name }) => b(name).size) };
    const records = byCollection(({ name }) => changes(a(name), b(name)));
    if (haveSameDigest(before, after, organizationId) && Object.values(records).every(isEmpty))
      return { organizationId, state: 'unchanged' };
    const counts = {
      before: byCollection(({ name }) => a(name).size),
      after: byCollection(({ name }) => b(name).size),
    };
    return { organizationId, state: 'changed', ...counts, records };
  });
}

function haveSameDigest(before: Side, after: Side, organizationId: string): boolean {
  const [a, b] = [before, after].map(({ image }) => digestsOf(image)[organizationId]);
  return a === b;
}

function isEmpty({ added, changed, removed }: RecordsDiff): boolean {
  return added.length + changed.length + removed.length === 0;
}

function changes(before: Texts, after: Texts): RecordsDiff {
  const ids = [...after.keys()];
  return {
    added: ids.filter((id) => !before.has(id)),
    changed: ids.filter((id) => before.has(id) && before.get(id) !== after.get(id)),
    removed: [...before.keys()].filter((id) => !after.has(id)),
  };
}

/** Returns each record of a collection as JSON text, with its imported fields, by id in list order. */
function textsOf({ image, files }: Side, organizationId: string, collection: CollectionName): Texts {
  const belongs = (line: ImportRecord) => line['organizationId'] === organizationId;
  const importedFields = (id: string): unknown => {
    if (collection === 'sessions')
      return files.sessions.find((line) => belongs(line) && line['id'] === id)?.['eventId'];
    if (collection === 'offers')
      return [files.offers.find((line) => belongs(line) && line['offerId'] === id)?.['heldByEventIds']]
        .flat()
        .sort();
    return undefined;
  };
  const records = recordsOf(organizationOf(image, organizationId)[collection]);
  return new Map(Array.from(records, ([id, record]) => [id, JSON.stringify([record, importedFields(id)])]));
}
