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
  const [earlier, later] = [before, after].map(({ image }) => digestsOf(image));
  const counts = (side: Side, organizationId: string) =>
    byCollection(({ name }) => textsOf(side, organizationId, name).size);
  return Object.keys({ ...earlier, ...later })
    .sort()
    .map((organizationId): OrganizationDiff => {
      if (!(organizationId in later))
        return { organizationId, state: 'removed', before: counts(before, organizationId) };
      if (!(organizationId in earlier))
        return { organizationId, state: 'added', after: counts(after, organizationId) };
      if (earlier[organizationId] === later[organizationId]) return { organizationId, state: 'unchanged' };
      return {
        organizationId,
        state: 'changed',
        before: counts(before, organizationId),
        after: counts(after, organizationId),
        records: byCollection(({ name }) =>
          changes(textsOf(before, organizationId, name), textsOf(after, organizationId, name)),
        ),
      };
    });
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
  const lineOf = (file: 'sessions' | 'offers', field: string, id: string) =>
    files[file].find((line) => line['organizationId'] === organizationId && line[field] === id);
  const importedFields = (id: string): unknown => {
    if (collection === 'sessions') return lineOf('sessions', 'id', id)?.['eventId'];
    // The events of an offer have no order.
    if (collection === 'offers') return [lineOf('offers', 'offerId', id)?.['heldByEventIds']].flat().sort();
    return undefined;
  };
  const records = recordsOf(organizationOf(image, organizationId)[collection]);
  return new Map(Array.from(records, ([id, record]) => [id, JSON.stringify([record, importedFields(id)])]));
}
