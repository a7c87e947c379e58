import type { Random } from '../../scripts/sample/random.ts';
import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalSession,
  minimalTicket,
} from './records.ts';
import type { FileName, ImportRecord } from './import-folder.ts';
import { shuffled } from './random.ts';

type RandomImport = Readonly<Record<FileName, readonly ImportRecord[]>>;

const ORGANIZATIONS = ['o0', 'o1', 'o2', 'o3'];
const EVENTS = ['e0', 'e1', 'e2', 'e3'];

/**
 * Makes a few organizations with a few records of few values, so that two imports share some of each.
 * @param before an earlier import, from which some organizations are taken unchanged
 */
export function randomImport(random: Random, before?: RandomImport): RandomImport {
  const present = ORGANIZATIONS.filter((id) => id === 'o0' || random.below(3) > 0);
  const parts = present.map((organizationId): RandomImport => {
    const had = before?.organizations.some((line) => line['organizationId'] === organizationId);
    return before !== undefined && had && random.below(3) === 0
      ? byFile((file) => before[file].filter((line) => line['organizationId'] === organizationId))
      : randomOrganization(random, organizationId);
  });
  return byFile((file) =>
    shuffled(
      random,
      parts.flatMap((part) => part[file]),
    ),
  );
}

function randomOrganization(random: Random, organizationId: string): RandomImport {
  const at = () => `2026-01-0${1 + random.below(3)}T00:00:00Z`;
  const some = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${prefix}${i}`).filter(() => random.below(4) > 0);
  const events = EVENTS.filter((id) => id === 'e0' || random.below(4) > 0);
  const sessions = [
    ...events.map((eventId) => ({ id: `of ${eventId}`, eventId })),
    ...some('s', 5).map((id) => ({ id, eventId: random.pick(events) })),
  ];
  const lines: Record<FileName, ImportRecord[]> = {
    organizations: [{}],
    events: events.map((id) => minimalEvent(id, { createdAt: at(), title: random.pick(['one', 'two']) })),
    sessions: sessions.map(({ id, eventId }) => minimalSession(id, eventId, { startAt: at() })),
    tickets: some('t', 12).map((id) => minimalTicket(id, { issuedAt: at(), eventId: random.pick(EVENTS) })),
    orders: some('r', 6).map((id) => minimalOrder(id, { placedItems: [{ eventId: random.pick(EVENTS) }] })),
    offers: some('f', 6).map((id) =>
      minimalOffer(id, 'PRODUCT', {
        createdAt: at(),
        heldByEventIds: shuffled(random, EVENTS).slice(random.below(4)),
      }),
    ),
  };
  return byFile((file) => lines[file].map(inOrganization(organizationId)));
}

function byFile(linesOf: (file: FileName) => readonly ImportRecord[]): RandomImport {
  return {
    organizations: linesOf('organizations'),
    events: linesOf('events'),
    sessions: linesOf('sessions'),
    tickets: linesOf('tickets'),
    orders: linesOf('orders'),
    offers: linesOf('offers'),
  };
}
