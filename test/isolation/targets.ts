import {
  type ListOperation,
  type Operation,
  OPERATIONS,
  type ListParameter,
  type RetrieveOperation,
} from '../../src/contract/operations.ts';
import { instantOf, type Plant } from './planted.ts';

/**
 * The owner of the requested values: a word in its ids and keys, such as that of `PLANT_event`, and digits in its
 * instants.
 */
export type Words = Pick<Plant, 'word' | 'digits'>;

/** Ids that both organizations have records for. */
export const SHARED: Words = { word: 'shared_1', digits: '424242424' };

/** Returns targets of every list and record, with every combination of the filters, for the values of `owners`. */
export function targetsFor(owners: readonly Words[]): string[] {
  return OPERATIONS.filter((operation) => operation.kind !== 'changes').flatMap((operation) =>
    operation.kind === 'list'
      ? listTargets(operation, owners)
      : owners.flatMap(({ word }) => recordIds(operation, word).map((id) => withPath(operation, id))),
  );
}

/** Returns requests that are refused or have no match, and whose responses repeat their input. */
export function brokenTargets({ word, digits }: Words): string[] {
  return [
    `/v1/events?tags=${word}_tag,`,
    `/v1/events?tags=${Array.from({ length: 11 }, (_, i) => `${word}_${i}`).join()}`,
    `/v1/events?startAt.gte=${digits}&startAt.lte=${word}`,
    `/v1/events?tags=${word}_tag&page=0&perPage=${word}`,
    `/v1/events/${word}_event/sessions?startAt.lt=${word}`,
    `/v1/tickets?eventIds=${word}_event&eventIds=shared_1_event`,
    `/v1/tickets?qrCodes=${word}_qr&page=${digits}&perPage=100`,
    `/v1/tickets?${word}=1&status=${word}&eventIds=${word}_event`,
    `/v1/orders?status=${word}`,
    `/v1/orders?email=${word}%20@example.org`,
    `/v1/catalog/offers?type=${word}&resaleEnabled=${word}`,
    `/v1/tickets/${word}_event`,
    `/v1/orders/${word}_ticket`,
    `/v1/events/${word}_event/`,
    `/v1/events/${word}%ff`,
    `/v1/${word}`,
    `/${word}`,
    '/v1/events?page=2',
    '/',
    '/healthz',
    '/openapi.json',
  ];
}

/** Returns the ids with a word, of which the operation finds one in the organization that has it. */
function recordIds({ collection }: RetrieveOperation, word: string): string[] {
  if (collection === 'events') return [`${word}_event`];
  if (collection === 'tickets') return [`${word}_ticket`];
  if (collection === 'orders') return [`${word}_order`];
  return ['TICKET', 'PRODUCT', 'BUNDLE'].map((type) => `${word}_offer_${type}`);
}

const PAGING: readonly string[] = ['page', 'perPage', 'contentDigest'];

function listTargets(operation: ListOperation, owners: readonly Words[]): string[] {
  const filters = operation.parameters.filter(({ role }) => !PAGING.includes(role.is));
  const parents = operation.pathParameter === undefined ? [''] : owners.map(({ word }) => `${word}_event`);
  return parents.flatMap((parent) =>
    subsets(filters).flatMap((chosen) => {
      const query = chosen.map((parameter) => `${parameter.name}=${valueOf(parameter, owners)}&`).join('');
      const address = `${withPath(operation, parent)}?${query}`;
      return [`${address}perPage=1`, `${address}page=2&perPage=1`];
    }),
  );
}

function withPath({ path }: Operation, id: string): string {
  return path.replace(/\{\w+\}/, id);
}

/** Returns all values for a list parameter, and the first for any other. */
function valueOf({ name, kind, role }: ListParameter, owners: readonly Words[]): string {
  if (role.is === 'bound') return boundOf(role.bound, owners[0]);
  const values = owners.map((words) => keyOf(name, words));
  return kind.schema['type'] === 'array' ? values.join() : values[0];
}

/** Returns a bound that the shared instants satisfy, or the instant of the words itself. */
function boundOf(bound: string, words: Words): string {
  if (words === SHARED) return bound.startsWith('g') ? '2031-05-05T07:59:59Z' : '2031-05-05T08:00:01Z';
  return instantOf(words).replace('+', '%2B');
}

function keyOf(parameter: string, words: Words): string {
  const isShared = words === SHARED;
  const { word } = words;
  switch (parameter) {
    case 'tags':
      return isShared ? 'shared%20TAG' : `${word}_tag`;
    case 'eventIds':
    case 'eventId':
      return `${word}_event`;
    case 'sessionIds':
    case 'sessionId':
      return `${word}_session_a`;
    case 'qrCodes':
      return isShared ? 'shared_qr' : `${word}_qr`;
    case 'orderIds':
      return `${word}_order`;
    case 'collection':
      return 'tickets';
    case 'status':
      return 'PENDING';
    case 'email':
      return isShared ? 'sharED@example.org' : `${word}@example.org`;
    case 'type':
      return 'TICKET';
    case 'resaleEnabled':
      return 'true';
    default:
      throw new TypeError(`no value for ${parameter}: plant one`);
  }
}

function subsets<T>(values: readonly T[]): T[][] {
  return values.reduce<T[][]>((all, value) => [...all, ...all.map((subset) => [...subset, value])], [[]]);
}
