import { expect } from 'chai';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import type { CollectionName } from '../../src/contract/operations.ts';
import { RELEASES } from '../../src/contract/releases.ts';
import { byCollection } from '../../src/snapshot/format/layout.ts';
import {
  type RecordForm,
  STORED_EVENT,
  STORED_OFFER,
  STORED_ORDER,
  STORED_SESSION,
  STORED_TICKET,
} from '../../src/snapshot/load/record-form.ts';
import { collectionOf } from '../../src/store/organization-image.ts';
import { type Built, type ImportRecord, recordsOf } from '../support/import-folder.ts';
import {
  FULL_BUNDLE_OFFER,
  FULL_EVENT,
  FULL_ORDER,
  FULL_PRODUCT_OFFER,
  FULL_RECORDS,
  FULL_SESSION,
  FULL_TICKET,
  FULL_TICKET_OFFER,
  inOrganization,
} from '../support/records.ts';
import { Builds } from './builds.ts';

/**
 * The fields that are never null, as the specification marks them; in tickets and orders, those that lists, filters and
 * sub-objects need. They are written by hand, and do not derive from the declarations of `src/contract/resources.ts`.
 */

interface Resource {
  readonly schema: string;
  readonly collection: CollectionName;
  /** A record with a value in every field. */
  readonly full: ImportRecord;
  readonly neverNull: string;
  /** Never null; an absent list is `[]`. */
  readonly lists?: string;
  /** Never null, and not in the import. */
  readonly derived?: string;
  /** Nullable, and not in the file. */
  readonly ofResponses?: string;
}

const OFFER_FIELDS = 'offerId type name currency minQuantityPerOrder maxQuantityPerOrder createdAt';
const ADDRESS_FIELDS = ['type', 'addressLine1', 'city', 'postalCode', 'countryCode'];
const addressIn = (path: string) => ADDRESS_FIELDS.map((name) => `${path}.${name}`).join(' ');

const RESOURCES: readonly Resource[] = [
  {
    schema: 'Event',
    collection: 'events',
    full: FULL_EVENT,
    neverNull: `id createdAt updatedAt title eventTimezone currency
      venueAddress.addressLine1 venueAddress.city venueAddress.postalCode venueAddress.countryCode`,
    lists: 'tags',
    derived: 'sessionCount firstSessionStartAt lastSessionStartAt',
    ofResponses: 'nextSessionStartAt nextSessionId',
  },
  {
    schema: 'EventSession',
    collection: 'sessions',
    full: FULL_SESSION,
    neverNull: 'id startAt durationMinutes',
  },
  {
    schema: 'Ticket',
    collection: 'tickets',
    full: FULL_TICKET,
    neverNull: 'ticketId eventId status issuedAt updatedAt eventSessionId qrCode orderId currency',
    lists: 'attendeeForm.responses attendeeForm.responses[].value',
  },
  {
    schema: 'Order',
    collection: 'orders',
    full: FULL_ORDER,
    neverNull: `orderId status currency createdAt updatedAt customer.customerId customer.email
      ${addressIn('billingAddress')} delivery.type ${addressIn('delivery.homeDeliveryAddress')}`,
    lists: 'placedItems optIns addOns',
  },
  {
    schema: 'TicketOffer',
    collection: 'offers',
    full: FULL_TICKET_OFFER,
    neverNull: `${OFFER_FIELDS} eventId vatRate defaultMaximumCapacity
      pricing[].pricingId pricing[].name pricing[].price pricing[].resaleEnabled
      optionOffers[].offerId optionOffers[].pricingId
      inventory[].inventoryId inventory[].sessionId inventory[].totalStock inventory[].availableStock`,
    lists: 'images tags pricing optionOffers inventory',
  },
  {
    schema: 'ProductOffer',
    collection: 'offers',
    full: FULL_PRODUCT_OFFER,
    neverNull: `${OFFER_FIELDS} vatRate defaultQuantity variantOptionLabels
      pricing[].pricingId pricing[].name pricing[].price
      inventory[].inventoryId inventory[].totalStock inventory[].availableStock inventory[].weightInGrams`,
    lists: 'images tags pricing inventory',
  },
  {
    schema: 'BundleOffer',
    collection: 'offers',
    full: FULL_BUNDLE_OFFER,
    neverNull: `${OFFER_FIELDS} pricingId price contains[].offerId contains[].quantity contains[].price`,
    lists: 'images tags contains',
  },
];

/** The forms that the loader checks; those of tickets and orders before a publication. */
const FORMS: Readonly<Record<CollectionName, RecordForm>> = {
  events: STORED_EVENT,
  sessions: STORED_SESSION,
  tickets: STORED_TICKET,
  orders: STORED_ORDER,
  offers: STORED_OFFER,
};

const words = (text = ''): readonly string[] => text.match(/\S+/g) ?? [];

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
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

const { components } = JSON.parse(JSON.stringify(openApiDocument(RELEASES))) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

function resolved({ $ref, ...schema }: Schema): Schema {
  return $ref === undefined ? schema : components.schemas[$ref.replace('#/components/schemas/', '')];
}

/** Returns whether each field of a schema may be null, by path. All fields are present in a response. */
function nullabilityOf(schema: Schema, path = ''): [path: string, isNullable: boolean][] {
  const { properties = {}, required = [] } = resolved(schema);
  expect(required).to.have.members(Object.keys(properties));
  return Object.entries(properties).flatMap(([name, field]): [string, boolean][] => {
    const nested = field.items ?? field.oneOf?.[0] ?? field;
    const mark = field.items === undefined ? '' : '[]';
    const types = [field.type, ...(field.oneOf ?? []).map(({ type }) => type)].flat();
    return [[path + name, types.includes('null')], ...nullabilityOf(nested, `${path}${name}${mark}.`)];
  });
}

describe('The nullability of fields', () => {
  const { build, rejectionOf } = new Builds();
  const own = inOrganization('org');
  const organizations = [{ organizationId: 'org' }];
  const imported = (collection: string, record: ImportRecord) =>
    own(collection === 'sessions' ? { eventId: 'evt full', ...record } : record);
  const complete = { organizations, ...byCollection(({ name }) => FULL_RECORDS[name].map(own)) };
  let built: Built;

  before(async () => {
    built = await build(complete);
  });

  for (const { schema, collection, full, ...fields } of RESOURCES) {
    const [neverNull, lists, derived] = [fields.neverNull, fields.lists, fields.derived].map(words);
    const ofResponses = words(fields.ofResponses);
    const [idField] = Object.keys(full);
    const ofSchema = nullabilityOf(components.schemas[schema]);
    const nullable = ofSchema.flatMap(([path, isNullable]) => (isNullable ? [path] : []));

    it(`is that of the specification in the OpenAPI document: ${schema}`, () => {
      const expected = [...neverNull, ...lists, ...derived];
      expect(ofSchema.flatMap(([path, isNullable]) => (isNullable ? [] : [path]))).to.have.members(expected);
    });

    it(`is held by a build, which names each field without a value: ${schema}`, async () => {
      const bad = [null, undefined].flatMap((value) =>
        neverNull.map((path) => imported(collection, without(full, path, value))),
      );
      const { groups } = await rejectionOf({ organizations, [collection]: bad });
      for (const path of neverNull) {
        const ofField = groups.filter((group) => group.startsWith(`${collection}.ndjson: ${path} `));
        // An absent type is one of the wrong types.
        if (path !== 'type') expect(ofField.join('; '), path).to.include(' is missing');
        expect(ofField.join('; '), path).to.match(/ must be (?!.*or null)/);
      }
    });

    it(`permits null, absence and an absent list where it is marked: ${schema}`, async () => {
      const inFile = nullable.filter((path) => !ofResponses.includes(path));
      const variants = [...inFile, ...lists].flatMap((path) =>
        [null, undefined].map((value) => ({ path, value, id: `${path} ${String(value)}` })),
      );
      const records = variants.map(({ path, value, id }) =>
        imported(collection, { ...without(full, path, value), [idField]: id }),
      );
      const sessions = records.map(({ id }, i) => own({ ...FULL_SESSION, id: `ses ${i}`, eventId: id }));
      const { image } = await build({
        ...complete,
        [collection]: [...complete[collection], ...records],
        ...(collection === 'events' && { sessions: [...complete.sessions, ...sessions] }),
      });
      const served = recordsOf(collectionOf(image.organizations[0], collection));
      for (const { path, id } of variants) {
        const [holder, name] = placeOf({ ...served.get(id) }, path);
        expect(holder[name], id).to.deep.equal(lists.includes(path) ? [] : null);
      }
    });

    it(`is that of the stored form, which has no null and no absence elsewhere: ${schema}`, () => {
      const stored = recordsOf(collectionOf(built.image.organizations[0], collection)).get(
        String(full[idField]),
      );
      const { read } = FORMS[collection];
      expect(read(JSON.stringify(stored))).to.deep.equal(stored);
      for (const path of [...neverNull, ...lists, ...derived]) {
        for (const value of [null, undefined])
          expect(read(JSON.stringify(without({ ...stored }, path, value))), path).to.equal(undefined);
      }
    });
  }
});
