import type { Uint32s } from '../store/shared.ts';
import type { StagedRows } from './staged-rows.ts';

/** What an event draws from its sessions, as it stands at the end of the event's JSON text. */
const summaryFields = (
  sessionCount: number,
  firstSessionStartAt: string,
  lastSessionStartAt: string,
): string => ',' + JSON.stringify({ sessionCount, firstSessionStartAt, lastSessionStartAt }).slice(1);

/** The events and sessions of one organization in list order, and the summary of each event. */
export class EventSchedule {
  /** Keys of the events that have sessions, latest created first. */
  readonly events: Uint32s;
  /** Keys of the events that have none. */
  readonly withoutSession: Uint32s;
  /** Keys of the sessions by the row of their event, then by start, then by id. */
  readonly sessions: Uint32s;
  /** Row of its event, by the key of a session. */
  readonly eventRowOf: Uint32s;
  readonly #sessions: StagedRows;
  readonly #organizationId: string;
  /** Keys of the sessions of an event, by the event's key, earliest start first. */
  readonly #sessionsOf: ReadonlyMap<number, number[]>;

  constructor(organizationId: string, events: StagedRows, sessions: StagedRows) {
    this.#sessions = sessions;
    this.#organizationId = organizationId;
    this.#sessionsOf = sessionsByEvent(organizationId, events, sessions);
    const inOrder = events.organization(organizationId).inOrder();
    this.events = inOrder.filter((key) => this.#sessionsOf.has(key));
    this.withoutSession = inOrder.filter((key) => !this.#sessionsOf.has(key));
    this.eventRowOf = new Uint32Array(sessions.organization(organizationId).count);
    const ordered: number[] = [];
    this.events.forEach((event, row) => {
      for (const session of this.#sessionsOf.get(event) ?? []) {
        ordered.push(session);
        this.eventRowOf[session] = row;
      }
    });
    this.sessions = Uint32Array.from(ordered);
  }

  /** The JSON text of an event with the summary of its sessions. */
  withSummary(event: number, record: Buffer): Buffer {
    const sessions = this.#sessionsOf.get(event) ?? [];
    const staged = this.#sessions.organization(this.#organizationId);
    const startAt = (session: number) => this.#sessions.readField(staged, session, 'start_at');
    const summary = summaryFields(
      sessions.length,
      startAt(sessions[0]),
      startAt(sessions[sessions.length - 1]),
    );
    return Buffer.concat([record.subarray(0, -1), Buffer.from(summary)]);
  }
}

function sessionsByEvent(
  organizationId: string,
  events: StagedRows,
  sessions: StagedRows,
): Map<number, number[]> {
  const staged = sessions.organization(organizationId);
  const eventIds = events.organization(organizationId).ids;
  const eventIdField = sessions.fieldNames.indexOf('event_id');
  const byEvent = new Map<number, number[]>();
  for (const session of staged.inOrder()) {
    const eventId = sessions.read(staged, session)[eventIdField];
    const event = eventIds.find(eventId, 0, eventId.length);
    const siblings = byEvent.get(event);
    if (siblings === undefined) byEvent.set(event, [session]);
    else siblings.push(session);
  }
  return byEvent;
}
