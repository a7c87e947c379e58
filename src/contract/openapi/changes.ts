import type { ListOperation } from '../operations.ts';
import type { Schema } from '../parameter.ts';
import { COLLECTION_NAMES, RESOURCES } from '../resources.ts';
import { closedObject, componentRef } from './responses.ts';

/** The schemas of the lines in a stream of changes. */

const text = (description: string): Schema => ({ type: 'string', minLength: 1, description });

function line(change: string, description: string, fields: Readonly<Record<string, Schema>> = {}): Schema {
  return closedObject({ change: { type: 'string', const: change }, ...fields }, description);
}

const count: Schema = { type: 'integer', minimum: 0 };

const ChangeReset = line('reset', 'First line of all records: remove the records of the copy.');

const ChangeDelete = line('delete', 'Remove a record. The copy may lack it.', {
  collection: { type: 'string', enum: COLLECTION_NAMES },
  id: text('Identifier of the record.'),
});

const ChangeEnd = line('end', 'Last line. Without it, the stream is not whole.', {
  next: text('Token for the next request.'),
  dataAsOf: text('Production time of the snapshot.'),
  counts: {
    type: 'object',
    description: 'Number of records in the snapshot, of each collection that was requested.',
    properties: Object.fromEntries(COLLECTION_NAMES.map((name) => [name, count])),
    additionalProperties: false,
  },
});

/** Returns the schema `Change` of a line, and those that it refers to. */
export function changeSchemas(lists: readonly ListOperation[]): Record<string, Schema> {
  const puts = lists.map(({ collection, pathParameter }): [string, Schema] => [
    `${RESOURCES[collection].name}Put`,
    line('put', `Add a record of ${collection}, or replace the one with its id.`, {
      collection: { type: 'string', const: collection },
      id: text('Identifier of the record.'),
      ...(pathParameter && { eventId: text('Identifier of the event.') }),
      record: componentRef('schemas', RESOURCES[collection].name),
    }),
  ]);
  const lines = { ChangeReset, ChangeDelete, ...Object.fromEntries(puts), ChangeEnd };
  const oneOf = Object.keys(lines).map((name) => componentRef('schemas', name));
  return { Change: { description: 'A line of a stream of changes.', oneOf }, ...lines };
}
