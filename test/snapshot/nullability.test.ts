import { copyFileSync } from 'node:fs';
import { expect } from 'chai';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { RELEASES } from '../../src/contract/releases.ts';
import { ImportRejected } from '../../src/snapshot/builder/staging/rejections.ts';
import { alterRuns } from '../support/alter-runs.ts';
import { reseal } from '../support/digests.ts';
import {
  build,
  builtFrom,
  type Import,
  type ImportRecord,
  recordsOf,
  writeImport,
} from '../support/import-folder.ts';
import {
  FULL_BUNDLE_OFFER,
  FULL_EVENT,
  FULL_PRODUCT_OFFER,
  FULL_SESSION,
  FULL_TICKET_OFFER,
  inOrganization,
} from '../support/records.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { expectRefused } from '../support/sound-snapshot.ts';
import { collectionOf } from '../../src/store/organization-image.ts';

/**
 * The nullability of every field of events, sessions and offers, as the specification marks it. The lists are written
 * by hand from its tables: they do not derive from the declarations of `src/contract/resources.ts`.
 */

interface Resource {
  readonly schema: string;
  readonly collection: 'events' | 'sessions' | 'offers';
  /** A record with a value in every field. */
  readonly full: ImportRecord;
  readonly neverNull: readonly string[];
  readonly nullable: readonly string[];
  /** Never null; an absent list is `[]`. */
  readonly lists: readonly string[];
  /** Never null, and not in the import. */
  readonly derived: readonly string[];
  /** Nullable, and not in the file. */
  readonly ofResponses: readonly string[];
}

type Marks = Partial<Record<'neverNull' | 'nullable' | 'lists' | 'derived' | 'ofResponses', string>>;

function resource(
  schema: string,
  collection: Resource['collection'],
  full: ImportRecord,
  ...marks: Marks[]
): Resource {
  const names = (mark: keyof Marks) => marks.flatMap(({ [mark]: list = '' }) => list.match(/\S+/g) ?? []);
  return {
    ...{ schema, collection, full, neverNull: names('neverNull'), nullable: names('nullable') },
    ...{ lists: names('lists'), derived: names('derived'), ofResponses: names('ofResponses') },
  };
}

const OFFER = {
  neverNull: 'offerId type name currency minQuantityPerOrder maxQuantityPerOrder createdAt',
  nullable: 'description compareAtPrice',
  lists: 'images tags',
};

const RESOURCES = [
  resource('Event', 'events', FULL_EVENT, {
    neverNull: `id createdAt updatedAt title eventTimezone currency
      venueAddress.addressLine1 venueAddress.city venueAddress.postalCode venueAddress.countryCode`,
    nullable: 'description imageUrl venueName venueAddress venueAddress.addressLine2',
    lists: 'tags',
    derived: 'sessionCount firstSessionStartAt lastSessionStartAt',
    ofResponses: 'nextSessionStartAt nextSessionId',
  }),
  resource('EventSession', 'sessions', FULL_SESSION, { neverNull: 'id startAt durationMinutes' }),
  resource('TicketOffer', 'offers', FULL_TICKET_OFFER, OFFER, {
    neverNull: `eventId vatRate defaultMaximumCapacity
      pricing[].pricingId pricing[].name pricing[].price pricing[].resaleEnabled
      optionOffers[].offerId optionOffers[].pricingId
      inventory[].inventoryId inventory[].sessionId inventory[].totalStock inventory[].availableStock`,
    nullable: 'attendeeFormId pricing[].bundleOfferId',
    lists: 'pricing optionOffers inventory',
  }),
  resource('ProductOffer', 'offers', FULL_PRODUCT_OFFER, OFFER, {
    neverNull: `vatRate defaultQuantity variantOptionLabels
      pricing[].pricingId pricing[].name pricing[].price
      inventory[].inventoryId inventory[].totalStock inventory[].availableStock inventory[].weightInGrams`,
    nullable: `variantOptionLabels.option1 variantOptionLabels.option2 variantOptionLabels.option3
      pricing[].bundleOfferId inventory[].option1 inventory[].option2 inventory[].option3`,
    lists: 'pricing inventory',
  }),
  resource('BundleOffer', 'offers', FULL_BUNDLE_OFFER, OFFER, {
    neverNull: 'pricingId price contains[].offerId contains[].quantity contains[].price',
    lists: 'contains',
  }),
];

/** Returns a copy of a record with null at a path, or without the field; of a list, its first element changes. */
function without(record: ImportRecord, path: string, value: null | undefined): ImportRecord {
  const copy = structuredClone(record) as Record<string, unknown>;
  const names = path.replaceAll('[]', '.0').split('.');
  const last = names.pop() ?? '';
  let target = copy;
  for (const name of names) target = target[name] as Record<string, unknown>;
  if (value === undefined) Reflect.deleteProperty(target, last);
  else target[last] = value;
  return copy;
}

function valueAt(record: unknown, path: string): unknown {
  const names = path.replaceAll('[]', '.0').split('.');
  return names.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], record);
}

interface Schema {
  readonly type: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

const { components } = JSON.parse(JSON.stringify(openApiDocument(RELEASES))) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** Returns whether each field of a schema may be null, by path. All fields are present in a response. */
function nullabilityOf(
  { properties = {}, required = [] }: Schema,
  path = '',
): [path: string, isNullable: boolean][] {
  expect(required).to.have.members(Object.keys(properties));
  return Object.entries(properties).flatMap(([name, field]): [string, boolean][] => {
    const nested = field.items ?? field;
    const mark = field.items === undefined ? '' : '[]';
    return [
      [path + name, Array.isArray(field.type) && field.type.includes('null')],
      ...nullabilityOf(nested, `${path}${name}${mark}.`),
    ];
  });
}

describe('The nullability of events, sessions and offers', () => {
  const folder = folderForAll();
  const own = inOrganization('org');
  const imported = (collection: string, record: ImportRecord) =>
    own(collection === 'sessions' ? { eventId: 'evt full', ...record } : record);
  const complete: Import = {
    organizations: [{ organizationId: 'org' }],
    events: [own(FULL_EVENT)],
    sessions: [own({ ...FULL_SESSION, eventId: 'evt full' })],
    offers: [FULL_TICKET_OFFER, FULL_PRODUCT_OFFER, FULL_BUNDLE_OFFER].map(own),
  };
  const snapshot = () => folder('complete/snapshot.sqlite');

  before(async () => {
    await builtFrom(folder('complete'), complete);
  });

  for (const { schema, collection, full, neverNull, nullable, lists, derived, ofResponses } of RESOURCES) {
    it(`is that of the specification in the OpenAPI document: ${schema}`, () => {
      const expected = [
        ...[...neverNull, ...lists, ...derived].map((path) => [path, false]),
        ...[...nullable, ...ofResponses].map((path) => [path, true]),
      ];
      expect(nullabilityOf(components.schemas[schema])).to.have.deep.members(expected);
    });

    it(`is held by a build, which names each field without a value: ${schema}`, async () => {
      const bad = [null, undefined].flatMap((value) =>
        neverNull.map((path) => imported(collection, without(full, path, value))),
      );
      writeImport(folder(schema), { organizations: [{ organizationId: 'org' }], [collection]: bad });
      const error: unknown = await build(folder(schema), folder(`${schema}.sqlite`)).catch(
        (reason: unknown) => reason,
      );
      if (!(error instanceof ImportRejected)) throw error;
      for (const path of neverNull) {
        const ofField = error.groups.filter(({ field }) => field === path).map(({ reason }) => reason);
        // An absent type is one of the wrong types.
        if (path !== 'type') expect(ofField, path).to.include('is missing');
        expect(ofField.join('; '), path).to.match(/must be (?!.*or null)/);
      }
    });

    if (nullable.length + lists.length > 0)
      it(`permits null, absence and an absent list where it is marked: ${schema}`, async () => {
        const [idField] = Object.keys(full);
        const variants = [...nullable, ...lists].flatMap((path) =>
          [null, undefined].map((value) => ({ path, value, id: `${path} ${String(value)}` })),
        );
        const records = variants.map(({ path, value, id }) =>
          imported(collection, { ...without(full, path, value), [idField]: id }),
        );
        const sessions = records.map(({ id }, i) => own({ ...FULL_SESSION, id: `ses ${i}`, eventId: id }));
        const files: Import = {
          ...complete,
          [collection]: [...(complete[collection] ?? []), ...records],
          ...(collection === 'events' && { sessions: [...(complete.sessions ?? []), ...sessions] }),
        };
        const { image } = await builtFrom(folder(`good-${schema}`), files);
        const served = recordsOf(collectionOf(image.organizations[0], collection));
        for (const { path, id } of variants)
          expect(valueAt(served.get(id), path), id).to.deep.equal(lists.includes(path) ? [] : null);
      });

    for (const path of [...neverNull, ...lists, ...derived].filter((path) => !/^(id|offerId)$/.test(path))) {
      it(`is held by the loader, which refuses null and absence: ${schema}, ${path}`, () => {
        for (const value of [null, undefined]) {
          copyFileSync(snapshot(), folder('altered.sqlite'));
          alterRuns(folder('altered.sqlite'), collection, ({ records }) => {
            for (const [i, text] of records.entries()) {
              const record = JSON.parse(text) as ImportRecord;
              if (String(Object.values(record)[0]) === String(Object.values(full)[0]))
                records[i] = JSON.stringify(without(record, path, value));
            }
          });
          reseal(folder('altered.sqlite'));
          expectRefused(
            folder('altered.sqlite'),
            /^record \d of (event_runs is not an event|session_runs is not a session|offer_runs is not an offer) in its stored form$/,
          );
        }
      });
    }
  }
});
