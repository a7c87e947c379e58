import { copyFileSync } from 'node:fs';
import { expect } from 'chai';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { RELEASES } from '../../src/contract/releases.ts';
import { ImportRejected } from '../../src/snapshot/builder/staging/rejections.ts';
import { alterRuns } from '../support/alter-runs.ts';
import { reseal } from '../support/digests.ts';
import { type Import, type ImportRecord, recordsOf } from '../support/import-folder.ts';
import {
  FULL_BUNDLE_OFFER,
  FULL_EVENT,
  FULL_PRODUCT_OFFER,
  FULL_SESSION,
  FULL_TICKET_OFFER,
  inOrganization,
} from '../support/records.ts';
import { refusalOf } from '../support/refusal.ts';
import { Builds } from './builds.ts';
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
  readonly nullable?: readonly string[];
  /** Never null; an absent list is `[]`. */
  readonly lists?: readonly string[];
  /** Never null, and not in the import. */
  readonly derived?: readonly string[];
  /** Nullable, and not in the file. */
  readonly ofResponses?: readonly string[];
}

const words = (text: string) => text.match(/\S+/g) ?? [];
const OFFER_FIELDS = 'offerId type name currency minQuantityPerOrder maxQuantityPerOrder createdAt ';
const NULLABLE_OFFER_FIELDS = 'description compareAtPrice ';

const RESOURCES: readonly Resource[] = [
  {
    schema: 'Event',
    collection: 'events',
    full: FULL_EVENT,
    neverNull: words(`id createdAt updatedAt title eventTimezone currency
      venueAddress.addressLine1 venueAddress.city venueAddress.postalCode venueAddress.countryCode`),
    nullable: words('description imageUrl venueName venueAddress venueAddress.addressLine2'),
    lists: ['tags'],
    derived: words('sessionCount firstSessionStartAt lastSessionStartAt'),
    ofResponses: words('nextSessionStartAt nextSessionId'),
  },
  {
    schema: 'EventSession',
    collection: 'sessions',
    full: FULL_SESSION,
    neverNull: words('id startAt durationMinutes'),
  },
  {
    schema: 'TicketOffer',
    collection: 'offers',
    full: FULL_TICKET_OFFER,
    neverNull: words(`${OFFER_FIELDS} eventId vatRate defaultMaximumCapacity
      pricing[].pricingId pricing[].name pricing[].price pricing[].resaleEnabled
      optionOffers[].offerId optionOffers[].pricingId
      inventory[].inventoryId inventory[].sessionId inventory[].totalStock inventory[].availableStock`),
    nullable: words(`${NULLABLE_OFFER_FIELDS} attendeeFormId pricing[].bundleOfferId`),
    lists: words('images tags pricing optionOffers inventory'),
  },
  {
    schema: 'ProductOffer',
    collection: 'offers',
    full: FULL_PRODUCT_OFFER,
    neverNull: words(`${OFFER_FIELDS} vatRate defaultQuantity variantOptionLabels
      pricing[].pricingId pricing[].name pricing[].price
      inventory[].inventoryId inventory[].totalStock inventory[].availableStock inventory[].weightInGrams`),
    nullable: words(`${NULLABLE_OFFER_FIELDS} pricing[].bundleOfferId
      variantOptionLabels.option1 variantOptionLabels.option2 variantOptionLabels.option3
      inventory[].option1 inventory[].option2 inventory[].option3`),
    lists: words('images tags pricing inventory'),
  },
  {
    schema: 'BundleOffer',
    collection: 'offers',
    full: FULL_BUNDLE_OFFER,
    neverNull: words(`${OFFER_FIELDS} pricingId price
      contains[].offerId contains[].quantity contains[].price`),
    nullable: words(NULLABLE_OFFER_FIELDS),
    lists: words('images tags contains'),
  },
];

/** Returns the object that holds the last name of a path, and that name; of a list, the first element. */
function placeOf(record: Record<string, unknown>, path: string): [Record<string, unknown>, string] {
  const names = path.replaceAll('[]', '.0').split('.');
  const last = names.pop() ?? '';
  return [names.reduce((value, name) => value[name] as Record<string, unknown>, record), last];
}

/** Returns a copy of a record with another value at a path; JSON has no undefined one. */
function without(record: ImportRecord, path: string, value: null | undefined): ImportRecord {
  const copy = structuredClone(record);
  const [target, name] = placeOf(copy, path);
  target[name] = value;
  return copy;
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
  const { inFolder, build } = new Builds();
  const own = inOrganization('org');
  const organizations = [{ organizationId: 'org' }];
  const imported = (collection: string, record: ImportRecord) =>
    own(collection === 'sessions' ? { eventId: 'evt full', ...record } : record);
  const complete = {
    organizations,
    events: [own(FULL_EVENT)],
    sessions: [own({ ...FULL_SESSION, eventId: 'evt full' })],
    offers: [FULL_TICKET_OFFER, FULL_PRODUCT_OFFER, FULL_BUNDLE_OFFER].map(own),
  };
  let snapshot: string;

  before(async () => {
    snapshot = (await build(complete)).file;
  });

  for (const resource of RESOURCES) {
    const { schema, collection, full, neverNull } = resource;
    const { nullable = [], lists = [], derived = [], ofResponses = [] } = resource;

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
      const { groups } = await refusalOf(build({ organizations, [collection]: bad }), ImportRejected);
      for (const path of neverNull) {
        const ofField = groups.filter(({ field }) => field === path).map(({ reason }) => reason);
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
          [collection]: [...complete[collection], ...records],
          ...(collection === 'events' && { sessions: [...complete.sessions, ...sessions] }),
        };
        const { image } = await build(files);
        const served = recordsOf(collectionOf(image.organizations[0], collection));
        for (const { path, id } of variants) {
          const [holder, name] = placeOf({ ...served.get(id) }, path);
          expect(holder[name], id).to.deep.equal(lists.includes(path) ? [] : null);
        }
      });

    for (const path of [...neverNull, ...lists, ...derived].filter((path) => !/^(id|offerId)$/.test(path))) {
      it(`is held by the loader, which refuses null and absence: ${schema}, ${path}`, () => {
        for (const value of [null, undefined]) {
          copyFileSync(snapshot, inFolder('altered.sqlite'));
          alterRuns(inFolder('altered.sqlite'), collection, ({ records }) => {
            for (const [i, text] of records.entries()) {
              const record = JSON.parse(text) as ImportRecord;
              if (String(Object.values(record)[0]) === String(Object.values(full)[0]))
                records[i] = JSON.stringify(without(record, path, value));
            }
          });
          reseal(inFolder('altered.sqlite'));
          expectRefused(
            inFolder('altered.sqlite'),
            /^record \d of (event_runs is not an event|session_runs is not a session|offer_runs is not an offer) in its stored form$/,
          );
        }
      });
    }
  }
});
