import { hash } from 'node:crypto';
import { type ChangesOperation, parametersOf } from '../../contract/operations.ts';
import { COLLECTION_NAMES } from '../../contract/resources.ts';
import { type Instant, parseTimestamp } from '../../contract/timestamp.ts';
import { keysOf } from '../../query/plan.ts';
import { readChanges, selectChanges } from '../../query/read-changes.ts';
import type { ValidKey } from '../../keys/key-ring.ts';
import { descendsFrom, UUID } from '../../store/organization-image.ts';
import type { OrganizationStore } from '../../store/registry/store-view.ts';
import type { Pins } from '../checks/pin.ts';
import { queryReader } from '../checks/query.ts';
import { HTTP_1_1_NEEDED, retryLater } from '../response/problem.ts';
import { dataHeaders } from '../response/send.ts';
import type { Reader } from './reader.ts';

const NOT_LOADED = retryLater(
  'snapshot-not-loaded',
  'The snapshot of the token is not loaded yet. Try again later.',
);

/**
 * Creates the reader of changes, as lines.
 * @param waitMs time for which the snapshot of a token may still be loaded, since a key first requested it
 */
export function changesReader(operation: ChangesOperation, pins: Pins, waitMs: number): Reader {
  const { since, eventIds } = operation;
  const readQuery = queryReader(parametersOf(operation));

  return ({ request, context, caller, store, query }) => {
    if (request.httpVersion === '1.0') throw HTTP_1_1_NEEDED;
    const text = query.values.get(since.name)?.at(0);
    const token = text === undefined ? undefined : decodeToken(text);
    const isMalformed = text !== undefined && token === undefined;
    const violation = { loc: `query.${since.name}`, input: text ?? '', ctx: since.kind.ctx('', '') };
    const values = readQuery(query, isMalformed ? [violation] : []);
    const named = values[operation.collections.name];
    const collections = COLLECTION_NAMES.filter((name) => !Array.isArray(named) || named.includes(name));
    const ids = Object.hasOwn(values, eventIds.name) ? keysOf(values[eventIds.name]).sort() : undefined;
    const events = ids && hash('sha256', JSON.stringify(ids), 'base64url');
    const { organizationId, snapshotId, producedAt } = store;
    const copy = { organizationId, collections, snapshotId, producedAt, events };
    const after = token && instantOf(token, copy, store, caller);
    const selected = selectChanges(store, collections, after, ids);
    const end = {
      change: 'end',
      next: encodeToken(copy),
      dataAsOf: producedAt,
      counts: Object.fromEntries(selected.map(({ collection, total }) => [collection, total])),
    };
    // The closure below holds the sections that it reads, and no others.
    const [first, last] = [after === undefined ? RESET : '', `${JSON.stringify(end)}\n`];
    const content = {
      is: 'lines' as const,
      rows: selected.reduce((sum, { lines }) => sum + lines, 0),
      headers: [],
      images: [...new Set(selected.map(({ list }) => list)), store.history],
      read: (isSent: () => boolean) => readChanges(selected, first, last, context.now, isSent),
    };
    return { headers: dataHeaders(store, true), content };
  };

  /**
   * Returns the instant after which the copy of a token lacks the changes; undefined if it cannot become the
   * requested copy by changes.
   * @throws Problem 429 when the snapshot of the token may still arrive
   */
  function instantOf(
    { organizationId, collections, snapshotId, producedAt, events }: Token,
    requested: Token,
    { history, latestInstant }: OrganizationStore,
    caller: ValidKey,
  ): Instant | undefined {
    if (organizationId !== requested.organizationId || events !== requested.events) return undefined;
    if (!requested.collections.every((name) => collections.includes(name))) return undefined;
    const instant = parseTimestamp(producedAt);
    if (instant === undefined) return undefined;
    if (descendsFrom(history, [snapshotId, instant])) return instant;
    // Another replica may have loaded the snapshot before this one. After a rollback, it does not come back by itself.
    if (instant > latestInstant && pins.mayArrive(caller, snapshotId, waitMs)) throw NOT_LOADED;
    return undefined;
  }
}

const RESET = '{"change":"reset"}\n';

/** The copy of a client: collections of an organization, or of some of its events, in a snapshot. */
interface Token {
  readonly organizationId: string;
  readonly collections: readonly string[];
  readonly snapshotId: string;
  readonly producedAt: string;
  /** Digest of the sorted event ids, whose length does not depend on theirs; undefined for all events. */
  readonly events: string | undefined;
}

/** The form of tokens. One in another form counts as malformed. */
const FORM = '1';

function encodeToken({ organizationId, collections, snapshotId, producedAt, events }: Token): string {
  const lines = [FORM, organizationId, collections.join(), snapshotId, producedAt];
  if (events !== undefined) lines.push(events);
  return Buffer.from(lines.join('\n')).toString('base64url');
}

/** Returns undefined for a text that is not a token. */
function decodeToken(text: string): Token | undefined {
  const lines = Buffer.from(text, 'base64url').toString().split('\n');
  const [, organizationId = '', names = '', snapshotId = '', producedAt = '', events] = lines;
  const token = { organizationId, collections: names.split(','), snapshotId, producedAt, events };
  const isToken = UUID.test(snapshotId) && parseTimestamp(producedAt) !== undefined;
  return isToken && encodeToken(token) === text ? token : undefined;
}
