import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalSession,
  minimalTicket,
} from '../../support/records.ts';
import {
  builtFrom,
  type ImportRecord,
  organizationOf,
  recordsOf,
  type OrganizationContent,
} from '../../support/import-folder.ts';
import { shuffled } from '../../support/random.ts';

const SEED = 20261121;
const COUNT = 700;

describe('A snapshot built from shuffled lines lists', () => {
  const folder = folderForAll();
  const random = new Random(SEED);
  // Few instants, so that many records share one; one instant in several forms.
  const instants = [
    '2026-11-01T10:00:00Z',
    '2026-11-01T11:00:00+01:00',
    '2026-11-01T10:00:00.0000009Z',
    '2026-11-01T10:00:00.000001Z',
    '2026-11-01T09:59:59.999999Z',
    '2026-11-01T10:00Z',
    '1969-12-31T23:59:59.999999Z',
    '0000-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59.999999-23:59',
  ];
  // Events are served in UTC, in which the last two have no year of four digits.
  const eventInstants = instants.slice(0, -2);
  // A surrogate pair sorts before U+FF5E by code unit, and after it by UTF-8 bytes.
  const starts = ['a', 'A', 'é', '\u{1f3ad}', '\uff5e', '', '\0', ' ', '"', '\\', '0'];
  const ids = shuffled(
    random,
    Array.from({ length: COUNT }, (_, i) => `${starts[i % starts.length]}${(i * 7919) % 1000}`),
  );
  const owners = ['o1', 'o2'];
  const owned = (make: (id: string) => ImportRecord) =>
    shuffled(
      random,
      ids.flatMap((id) => owners.map((owner) => inOrganization(owner)(make(id)))),
    );

  const events = owned((id) => minimalEvent(id, { createdAt: random.pick(eventInstants) }));
  const sessions = shuffled(random, [
    ...owned((id) => minimalSession(id, id, { startAt: random.pick(instants) })),
    ...owned((id) => minimalSession(`${id}+`, random.pick(ids), { startAt: random.pick(instants) })),
  ]);
  const tickets = owned((id) => minimalTicket(id, { issuedAt: random.pick(instants) }));
  const orders = owned((id) => minimalOrder(id, { createdAt: random.pick(instants) }));
  const offers = owned((id) => minimalOffer(id, 'BUNDLE', { createdAt: random.pick(instants) }));
  const images = new Map<string, OrganizationContent>();

  before(async () => {
    const organizations = owners.map((organizationId) => ({ organizationId }));
    const { image } = await builtFrom(folder('import'), {
      organizations,
      events,
      sessions,
      tickets,
      orders,
      offers,
    });
    for (const owner of owners) images.set(owner, organizationOf(image, owner));
  });

  /** Sorts an organization's records naively. Returns their ids. */
  function sortedIds(
    records: readonly ImportRecord[],
    owner: string,
    id: string,
    by: string,
    sign: 1 | -1,
  ): string[] {
    return records
      .filter(({ organizationId }) => organizationId === owner)
      .toSorted(
        (a, b) => compare(instantOf(a[by]), instantOf(b[by])) * sign || compare(String(a[id]), String(b[id])),
      )
      .map((record) => String(record[id]));
  }

  for (const owner of owners) {
    for (const [name, records, id, by, sign] of [
      ['events', events, 'id', 'createdAt', -1],
      ['tickets', tickets, 'ticketId', 'issuedAt', -1],
      ['orders', orders, 'orderId', 'createdAt', -1],
      ['offers', offers, 'offerId', 'createdAt', 1],
    ] as const) {
      it(`${name} of ${owner} by ${by}, then by id (seed ${SEED})`, () => {
        const collection = images.get(owner)?.[name];
        if (collection === undefined) throw new Error(owner);
        expect([...recordsOf(collection).keys()]).to.deep.equal(sortedIds(records, owner, id, by, sign));
      });
    }

    it(`sessions of ${owner} by event, then by startAt, then by id, and their summary (seed ${SEED})`, () => {
      const image = images.get(owner);
      if (image === undefined) throw new Error(owner);
      const found = [...recordsOf(image.sessions).values()];
      [...recordsOf(image.events).values()].forEach((event, row) => {
        const own = sessions.filter(({ eventId }) => eventId === event['id']);
        const expected = sortedIds(own, owner, 'id', 'startAt', 1);
        const ofEvent = found.slice(
          image.lists.events.schedule.firstOfEvent[row],
          image.lists.events.schedule.firstOfEvent[row + 1],
        );
        expect(ofEvent.map(({ id }) => id)).to.deep.equal(expected);
        expect(event).to.include({
          sessionCount: expected.length,
          firstSessionStartAt: ofEvent[0]['startAt'],
          lastSessionStartAt: ofEvent[ofEvent.length - 1]['startAt'],
        });
      });
    });
  }
});

function instantOf(text: unknown): bigint {
  const instant = parseTimestamp(String(text));
  if (instant === undefined) throw new Error(String(text));
  return instant;
}

function compare<T extends bigint | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
