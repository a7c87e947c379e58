import { exampleOf, type Field, type Fields, type Resource } from '../../src/contract/field.ts';
import { EVENT, EVENT_SESSION, OFFER, ORDER, TICKET } from '../../src/contract/resources.ts';
import { buildFile, type Import, type ImportRecord } from '../support/import-folder.ts';
import { times } from '../support/records.ts';
import { newCredential } from '../support/replica-under-test.ts';
import type { InFolder } from '../support/temporary-folder.ts';

const ORGANIZATION = 'sparse';

const idOf = ({ name }: Resource, i: number) => `${name}-${i}`;

/** The records that have a value in every field. */
export const FULL_IDS = {
  eventId: idOf(EVENT, 0),
  ticketId: idOf(TICKET, 0),
  orderId: idOf(ORDER, 0),
  offerId: idOf(OFFER, 0),
};

/** Returns whether a served field may lack a value. It is null then, or an empty list. */
export const isOptional = ({ required }: Field): boolean => required !== true;

/**
 * Returns an import that derives from the contract. Of each kind of record, one has a value in every field. Each optional
 * field, at any depth, is absent from another one.
 */
function sparseImport(): Import {
  const events = recordsOf(EVENT);
  const [session] = recordsOf(EVENT_SESSION);
  return {
    organizations: [{ organizationId: ORGANIZATION, name: 'Example' }],
    events,
    // Those of the first event are to come, the others are past: a next session is optional, too.
    sessions: events.flatMap(({ id: eventId }, i) =>
      times(2, (j) => {
        const startAt = `${i === 0 ? 2999 : 2001}-06-0${j + 1}T20:00:00+02:00`;
        return { ...session, id: `session-${i}-${j}`, eventId, startAt };
      }),
    ),
    tickets: recordsOf(TICKET).map((ticket) => ({ ...ticket, eventId: FULL_IDS.eventId })),
    orders: recordsOf(ORDER),
    offers: recordsOf(OFFER),
  };
}

function recordsOf(resource: Resource): ImportRecord[] {
  return Object.values(resource.variants)
    .flatMap((fields) => [...sparseObjects(fields)])
    .map((record, i) => ({ ...record, organizationId: ORGANIZATION, [resource.id]: idOf(resource, i) }));
}

/** Yields an object with all imported fields, and one without each optional field at any depth. */
function* sparseObjects(fields: Fields): Generator<ImportRecord> {
  const imported = Object.entries(fields).filter(([, { derived }]) => derived === undefined);
  const full = exampleOf(Object.fromEntries(imported));
  yield full;
  for (const [name, field] of imported) {
    if (isOptional(field)) yield { ...full, [name]: undefined };
    const { shape } = field;
    const element = shape.kind === 'list' ? shape.items : shape;
    if (element.kind !== 'object') continue;
    for (const inner of sparseObjects(element.fields).drop(1))
      yield { ...full, [name]: shape.kind === 'list' ? [inner] : inner };
  }
}

/** Builds a snapshot of the import in the snapshot folder. Returns a credential of its organization. */
export async function placeSparse(inFolder: InFolder): Promise<string> {
  await buildFile(sparseImport(), inFolder('snapshots/sparse.sqlite'));
  return newCredential(inFolder, ORGANIZATION);
}
