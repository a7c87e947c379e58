import fc from 'fast-check';
import { byCollection } from '../../src/snapshot/format/layout.ts';
import type { FileName, ImportRecord } from './import-folder.ts';
import { recordsIn } from './records.ts';

/** Histories of two organizations, as the imports that change a base and the import of all records. */

type Collection = Exclude<FileName, 'organizations'>;

/** Organizations of the fixture of the API, too. */
export const ORGANIZATIONS = ['north', 'south'] as const;

/** One line of an import with a base: of a record, of a deletion, or both. */
export interface Change {
  readonly organizationId: string;
  readonly collection: Collection;
  readonly id: string;
  readonly does: 'put' | 'delete' | 'both';
  /** Decides on the position in the list. */
  readonly day: number;
  readonly text: string;
  /** Events that the record belongs to, or the first of them if it has one. */
  readonly eventIds: readonly string[];
}

const IDS = [
  ...Array.from({ length: 54 }, (_, i) => `i${i}`),
  ...['é', '"', '\\', '\u{1f3ad}', '\ue000', 'i"é'],
];

/** The events that other records name. */
export const EVENT_IDS = IDS.slice(1, 5);

const anyChange: fc.Arbitrary<Change> = fc.record({
  organizationId: fc.constantFrom(...ORGANIZATIONS),
  // Tickets, orders and offers are merged alike.
  collection: fc.constantFrom<Collection>(
    'events',
    'sessions',
    'tickets',
    'tickets',
    'tickets',
    'orders',
    'offers',
  ),
  id: fc.constantFrom(...IDS),
  does: fc.constantFrom<Change['does']>('put', 'put', 'put', 'delete', 'delete', 'both'),
  day: fc.integer({ min: 1, max: 4 }),
  text: fc.constantFrom('one', 'two'),
  eventIds: fc.uniqueArray(fc.constantFrom(...EVENT_IDS), { minLength: 1, maxLength: 2 }),
});

/**
 * Of the changes of events, half are of those that other records name. Of those of offers, half are of four offers with
 * the same text each time, so that only their events change.
 */
export const change: fc.Arbitrary<Change> = anyChange.map((one) => {
  if (one.text === 'one') return one;
  if (one.collection === 'offers') return { ...one, id: `held ${one.day}` };
  return one.collection === 'events' ? { ...one, id: one.eventIds[0] } : one;
});

/** The changes of each step, the first of which makes the base. */
export const histories: fc.Arbitrary<readonly Change[][]> = fc
  .tuple(
    fc.array(change, { maxLength: 200 }),
    fc.array(fc.array(change, { maxLength: 25 }), { minLength: 1, maxLength: 4 }),
  )
  .map(([first, steps]) => [first, ...steps]);

export type Files = Record<FileName, ImportRecord[]>;
export type Deletion = Readonly<Record<'organizationId' | 'collection' | 'id', string>>;

/** The records of a history at one time. */
export class World {
  /** By organization, collection and id, as JSON. */
  readonly #records = new Map<string, { readonly change: Change; readonly line: ImportRecord }>();

  /** Applies changes. Returns the import with a base that does the same. */
  apply(changes: readonly Change[]): Files & { readonly deletions: Deletion[] } {
    const before = new Map(this.#records);
    const deletions: Deletion[] = [];
    const remove = (key: string, { organizationId, collection, id }: Change) => {
      this.#records.delete(key);
      deletions.push({ organizationId, collection, id });
    };
    for (const one of changes) {
      const key = keyOf(one);
      if (one.does !== 'put') remove(key, one);
      if (one.does !== 'delete') this.#records.set(key, { change: one, line: lineOf(one) });
    }
    // An event has a session, and a session has its event.
    const held = new Set<string>();
    for (const [key, { change, line }] of this.#records) {
      if (change.collection !== 'sessions') continue;
      const event = keyOf({ ...change, collection: 'events', id: String(line['eventId']) });
      if (this.#records.has(event)) held.add(event);
      else remove(key, change);
    }
    for (const [key, { change }] of [...this.#records]) {
      if (change.collection !== 'events' || held.has(key)) continue;
      const session = { ...change, collection: 'sessions', id: `of ${change.id}` } as const;
      this.#records.set(keyOf(session), { change: session, line: lineOf(session) });
    }
    const changed = this.#records.entries().filter(([key, { line }]) => before.get(key)?.line !== line);
    return { ...filesOf(Array.from(changed, ([, record]) => record)), deletions };
  }

  /** Returns organization, collection and id of all records, as JSON. */
  ids(): ReadonlySet<string> {
    return new Set(this.#records.keys());
  }

  /** Returns the import of all records, without those of an organization. */
  all(without?: string): Files {
    const files = Object.entries(filesOf([...this.#records.values()]));
    const kept = files.map(([name, lines]) => [
      name,
      lines.filter((line) => line['organizationId'] !== without),
    ]);
    return Object.fromEntries(kept) as Files;
  }
}

function keyOf({ organizationId, collection, id }: Change): string {
  return JSON.stringify([organizationId, collection, id]);
}

function filesOf(records: readonly { readonly change: Change; readonly line: ImportRecord }[]): Files {
  const files = Map.groupBy(records, ({ change }) => change.collection);
  return {
    organizations: ORGANIZATIONS.map((organizationId) => ({ organizationId })),
    ...byCollection(({ name }) => (files.get(name) ?? []).map(({ line }) => line)),
  };
}

function lineOf({ organizationId, collection, id, day, text, eventIds }: Change): ImportRecord {
  const { event, session, ticket, order, offer } = recordsIn(organizationId);
  const at = `2026-01-0${day}T00:00:00Z`;
  const [eventId] = eventIds;
  switch (collection) {
    case 'events':
      return event(id, { createdAt: at, title: text });
    case 'sessions':
      return session(id, id.startsWith('of ') ? id.slice(3) : eventId, { startAt: at });
    case 'tickets':
      return ticket(id, { issuedAt: at, status: text, eventId });
    case 'orders':
      return order(id, {
        createdAt: at,
        paymentMethod: text,
        placedItems: eventIds.map((eventId) => ({ eventId })),
      });
    case 'offers':
      return text === 'one'
        ? offer(id, 'TICKET', { createdAt: at, eventId })
        : offer(id, 'PRODUCT', { createdAt: at, heldByEventIds: eventIds });
  }
}
