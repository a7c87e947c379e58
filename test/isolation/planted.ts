import type { Fields, Json, Shape } from '../../src/contract/field.ts';
import type { CollectionName } from '../../src/contract/operations.ts';
import { EVENT, EVENT_SESSION, OFFER, OFFER_TYPES, ORDER, TICKET } from '../../src/contract/resources.ts';

/** Marks that identify the owner of a record, planted in every field that can hold them. */
export interface Plant {
  readonly organizationId: string;
  /** In every text: only letters, so that no encoding hides it. */
  readonly word: string;
  /** In every number, and in the fraction of every timestamp. */
  readonly digits: string;
  readonly timeZone: string;
}

export const AMBER: Plant = {
  organizationId: 'org-canaryamber',
  word: 'CanaryAmber',
  digits: '713713713',
  timeZone: 'Asia/Kathmandu',
};
export const BIRCH: Plant = {
  organizationId: 'org-canarybirch',
  word: 'CanaryBirch',
  digits: '424242424',
  timeZone: 'Pacific/Chatham',
};

/**
 * Returns a decoy for a plant. No organization has its word, and no timestamp is between its digits and the plant's.
 */
export function decoyOf({ digits }: Plant): Pick<Plant, 'word' | 'digits'> {
  return { word: 'DecoyAbsent', digits: `${digits.slice(0, 6)}999` };
}

/**
 * Returns the imported records of an organization by collection. Some have ids and keys that both organizations have.
 */
export function plantedRecords(plant: Plant): Readonly<Record<CollectionName, readonly object[]>> {
  const { word } = plant;
  const own = (name: string) => `${word}_${name}`;
  const fill = (fields: Fields) => plantedFields(fields, plant, '');
  const names = ['shared_1', 'shared_2', word];
  return {
    events: names.map((name) => ({
      ...fill(EVENT.variants['']),
      id: `${name}_event`,
      tags: ['Shared tag', own('tag')],
    })),
    sessions: names.flatMap((name) =>
      ['a', word].map((suffix) => ({
        ...fill(EVENT_SESSION.variants['']),
        id: `${name}_session_${suffix}`,
        eventId: `${name}_event`,
      })),
    ),
    tickets: names.map((name) => ({
      ...fill(TICKET.variants['']),
      ticketId: `${name}_ticket`,
      eventId: eventOf(name),
      eventSessionId: sessionOf(name),
      orderId: orderOf(name),
      qrCode: qrCodeOf(name),
    })),
    orders: names.map((name) => ({
      ...fill(ORDER.variants['']),
      orderId: `${name}_order`,
      status: 'PENDING',
      customer: {
        customerId: own('customer'),
        firstName: own('first'),
        lastName: own('last'),
        email: emailOf(name),
      },
      placedItems: [eventOf(name), own('event')].map((eventId) => ({
        ...plantedItem(ORDER.variants[''], 'placedItems', plant),
        eventId,
      })),
    })),
    offers: OFFER_TYPES.flatMap((type) =>
      names.map((name) => ({
        ...fill(OFFER.variants[type]),
        offerId: `${name}_offer_${type}`,
        type,
        ...(type === 'TICKET' ? ticketParts(plant, name) : { heldByEventIds: [eventOf(name), own('event')] }),
      })),
    ),
  };
}

/** Shared by records with shared ids: values that a filter finds in both organizations. */
const isShared = (name: string) => name.startsWith('shared');
const eventOf = (name: string) => (isShared(name) ? 'shared_1_event' : `${name}_event`);
const sessionOf = (name: string) => (isShared(name) ? 'shared_1_session_a' : `${name}_session_a`);
const orderOf = (name: string) => (isShared(name) ? 'shared_1_order' : `${name}_order`);
const qrCodeOf = (name: string) => (isShared(name) ? 'shared_qr' : `${name}_qr`);
const emailOf = (name: string) => (isShared(name) ? 'Shared@example.org' : `${name}@example.org`);

function ticketParts(plant: Plant, name: string): object {
  const fields = OFFER.variants['TICKET'];
  const pricing = plantedItem(fields, 'pricing', plant);
  const inventory = plantedItem(fields, 'inventory', plant);
  return {
    eventId: eventOf(name),
    pricing: [true, false].map((resaleEnabled) => ({ ...pricing, resaleEnabled })),
    inventory: [sessionOf(name), `${plant.word}_session`].map((sessionId) => ({ ...inventory, sessionId })),
  };
}

function plantedItem(fields: Fields, name: string, plant: Plant): Record<string, Json> {
  const { shape } = fields[name];
  if (shape.kind !== 'list' || shape.items.kind !== 'object') throw new TypeError(`${name} lists no objects`);
  return plantedFields(shape.items.fields, plant, `${name}.`);
}

/** Returns every declared field but derived ones, each with the plant in it. */
function plantedFields(fields: Fields, plant: Plant, path: string): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, { derived }]) => !derived)
      .map(([name, { shape }]) => [name, planted(shape, plant, path + name)]),
  );
}

function planted(shape: Shape, plant: Plant, path: string): Json {
  switch (shape.kind) {
    case 'text':
      return `${plant.word}_${path}`;
    case 'choice':
      return shape.values[0];
    case 'timestamp':
      return instantOf(plant);
    case 'timeZone':
      return plant.timeZone;
    case 'number':
    case 'integer':
      return Number(plant.digits);
    case 'boolean':
      return true;
    case 'list':
      return [planted(shape.items, plant, path)];
    case 'object':
      return plantedFields(shape.fields, plant, `${path}.`);
    case 'anyObject':
      return { [`${plant.word}_name`]: { deep: [`${plant.word}_value`] } };
  }
}

export function instantOf({ digits }: Pick<Plant, 'digits'>): string {
  return `2031-05-05T10:00:00.${digits}+02:00`;
}

/** Returns the paths of a plant in a value, such as `pricing.name`, without list positions. */
export function plantedPaths(plant: Plant, value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => plantedPaths(plant, item, path));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, field]) =>
      plantedPaths(plant, field, path === '' ? name : `${path}.${name}`),
    );
  }
  const text = String(value);
  return text.includes(plant.word) || text.includes(plant.digits) ? [path] : [];
}

/** Returns the paths of all fields that can hold a plant. */
export function plantablePaths(fields: Fields, path = ''): string[] {
  return Object.entries(fields)
    .filter(([name]) => name !== 'sessionCount')
    .flatMap(([name, { shape }]) => plantablePathsIn(shape, path + name));
}

function plantablePathsIn(shape: Shape, path: string): string[] {
  switch (shape.kind) {
    case 'text':
    case 'timestamp':
    case 'number':
    case 'integer':
      return [path];
    case 'list':
      return plantablePathsIn(shape.items, path);
    case 'object':
      return plantablePaths(shape.fields, `${path}.`);
    case 'choice':
    case 'timeZone':
    case 'boolean':
    case 'anyObject':
      return [];
  }
}
