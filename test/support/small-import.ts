import type { StoredDeletion } from './deletions.ts';
import { minimalPricing, recordsIn, times } from './records.ts';
import type { ImportRecord } from './import-folder.ts';

const NAMES: Readonly<Record<string, string>> = { north: 'Nord', south: 'Süd' };
const at = (i: number) => new Date(Date.UTC(2026, 0, 1) + i * 1_000_000).toISOString();

/** Returns a small import: organizations with records of every collection. */
export function smallImport(organizationIds: readonly string[]) {
  const ofAll = (make: (records: ReturnType<typeof recordsIn>, owner: string) => readonly ImportRecord[]) =>
    organizationIds.flatMap((owner) => make(recordsIn(owner), owner));
  return {
    organizations: organizationIds.map((organizationId) => ({ organizationId, name: NAMES[organizationId] })),
    events: ofAll(({ event }, owner) =>
      times(4, (i) =>
        event(`evt_${i}`, {
          createdAt: at(i),
          title: `${owner} ${i}`,
          eventTimezone: 'Atlantic/Reykjavik',
          tags: ['Été', `tag ${i}`],
        }),
      ),
    ),
    sessions: ofAll(({ session }) =>
      times(10, (i) =>
        session(`ses_${i}`, `evt_${i % 4}`, { startAt: at(400 + i * 31), durationMinutes: i }),
      ),
    ),
    tickets: ofAll(({ ticket }, owner) =>
      times(60, (i) =>
        ticket(`tkt_${i}`, {
          issuedAt: at(i),
          updatedAt: at(i * 2),
          eventId: `evt_${i % 4}`,
          eventSessionId: `ses_${i % 10}`,
          orderId: `ord_${i % 9}`,
          qrCode: `${owner}-${i}`,
        }),
      ),
    ),
    orders: ofAll(({ order }) =>
      times(9, (i) =>
        order(`ord_${i}`, {
          createdAt: at(i),
          updatedAt: at(i + 5),
          customer: { customerId: `c${i}`, email: `Name${i % 3}@example.org` },
          placedItems: [
            { eventId: `evt_${i % 4}`, quantity: 1 },
            { eventId: 'evt_0', quantity: i },
          ],
        }),
      ),
    ),
    offers: ofAll(({ offer }) => [
      ...times(3, (i) =>
        offer(`off_${i}`, 'TICKET', {
          eventId: `evt_${i}`,
          createdAt: at(i),
          pricing: [
            minimalPricing('p', { resaleEnabled: true }),
            minimalPricing('q', { resaleEnabled: false }),
          ],
        }),
      ),
      offer('off_3', 'PRODUCT', { createdAt: at(3), heldByEventIds: ['evt_0', 'evt_1'] }),
      offer('off_4', 'BUNDLE', { createdAt: at(4), heldByEventIds: ['evt_1', 'evt_2'] }),
    ]),
  };
}

export const SMALL_IMPORT = smallImport(['north', 'south']);

/** The deletions of each organization in a snapshot of the small import. */
export const SMALL_DELETIONS: readonly StoredDeletion[] = [
  { collection: 'tickets', id: 'gone_2', deletedAt: '2026-11-01T00:00:00.000Z' },
  { collection: 'orders', id: 'gone_1', deletedAt: '2026-11-02T00:00:00.000Z' },
  { collection: 'tickets', id: 'gone_1', deletedAt: '2026-11-02T00:00:00.000Z' },
  { collection: 'offers', id: 'gone "é"', deletedAt: '2026-11-03T12:00:00.000Z' },
];
