import { type Seconds, writeUtc } from './clock.ts';
import type { StagedEvent } from './offers.ts';
import type { Organization } from './organizations.ts';

/** An event as the import folder has it: without the session summary, which is derived from its sessions. */
export function eventRecord({ organizationId, profile }: Organization, event: StagedEvent) {
  const { production } = event;
  return {
    organizationId,
    id: event.eventId,
    createdAt: writeUtc(event.createdAt, fractionOf(event.createdAt)),
    updatedAt: writeUtc(event.updatedAt),
    title: event.title,
    description: production.description,
    imageUrl: production.imageUrl,
    venueName: production.venue.name,
    venueAddress: production.venue.address,
    eventTimezone: event.clock.zone,
    currency: profile.currency.code,
    tags: production.tags,
  };
}

export function sessionRecords({ organizationId }: Organization, { eventId, sessions }: StagedEvent) {
  return sessions.map(({ sessionId, startAt, minutes }) => ({
    organizationId,
    eventId,
    id: sessionId,
    startAt,
    durationMinutes: minutes,
  }));
}

/** Some systems note milliseconds, some microseconds: which one follows from the moment itself. */
function fractionOf(moment: Seconds): string {
  const digits = [0, 0, 3, 6][moment % 4];
  return digits === 0 ? '' : `.${String((moment * 7919) % 10 ** digits).padStart(digits, '0')}`;
}
