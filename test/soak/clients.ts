import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../scripts/sample/random.ts';
import { type ListOperation, OPERATIONS, pathWith } from '../../src/contract/operations.ts';
import { Connection } from '../support/connections.ts';
import { isPathSegment, pageDifference, targetOf } from '../support/oracle/list-request.ts';
import type { Entry } from '../support/oracle/random-organization.ts';
import { QueryMaker, type RandomQuery } from '../support/oracle/random-query.ts';
import { responsesIn } from '../support/raw-responses.ts';
import type { Answer } from '../support/replica-under-test.ts';
import { contentOf, snapshotIdOf, type SoakRun, type Variant } from './soak-run.ts';

/** The clients of a soak. Each repeats its requests, and compares the responses with the records of their snapshot. */

const LISTS = OPERATIONS.filter((operation) => operation.kind === 'list');
const RECORDS = OPERATIONS.filter((operation) => operation.kind === 'retrieve');
const [LIST_TICKETS] = LISTS.filter(({ id }) => id === 'listTickets');
/** Pages of 100 that a slow reader requests at once: more than the buffers of the system hold. */
const SLOW_PAGES = 8;
const SLOW_BYTES = 128 * 1024;
const SLOW_PAUSE_MS = 30;

/** One turn of a client, for an organization. */
interface Turn {
  readonly run: SoakRun;
  readonly connection: Connection;
  readonly organizationId: string;
  readonly credential: string;
  readonly random: Random;
}

const CLIENTS: readonly (readonly [count: number, work: (turn: Turn) => Promise<void>])[] = [
  [6, read],
  [3, walk],
  [2, readSlowly],
  [2, quit],
];

/** Starts all clients. Fulfilled when they have ended. */
export async function runClients(run: SoakRun): Promise<void> {
  const clients = CLIENTS.flatMap(([count, work]) => Array.from({ length: count }, () => work));
  await Promise.all(
    clients.map(async (work) => {
      const connection = new Connection(run.replica);
      await run.repeat(work.name, (random) => {
        const [organizationId, credential] = random.pick([...run.credentials]);
        return work({ run, connection, organizationId, credential, random });
      });
      connection.close();
    }),
  );
}

/** A request, and the comparison of a response with the records of a snapshot. */
interface Question {
  readonly target: string;
  /** Whether the response depends on the time, as that of events does. */
  readonly isTimed: boolean;
  /** Returns the difference; undefined when there is none. */
  readonly difference: (answer: Pick<Answer, 'status' | 'text'>, variant: Variant) => string | undefined;
}

/** Requests a record or a page, and then often the same with its entity tag. */
async function read(turn: Turn): Promise<void> {
  const { run, connection, credential, random } = turn;
  const isRecord = random.chance(0.4);
  const question = isRecord ? recordQuestion(turn) : pageQuestion(turn);
  await delay(random.below(20));
  if (question === undefined) return;
  const { target, isTimed, difference } = question;
  /** Compares with each snapshot that was live during the request. A 304 confirms the earlier response. */
  const ask = async (headers: Readonly<Record<string, string>>, earlier?: Answer): Promise<Answer> => {
    const began = performance.now();
    const answer = await run.ask(connection, target, credential, headers);
    const compared = answer.status === 304 && earlier !== undefined ? earlier : answer;
    const differences = run.sourcesOf(answer, began).map((variant) => difference(compared, variant));
    if (!differences.includes(undefined)) run.fault(`${target}: ${String(differences[0])}`);
    return answer;
  };
  const first = await ask({});
  run.count(isRecord ? 'records' : 'pages');
  const { etag } = first.headers;
  if (etag === undefined || random.chance(0.5)) return;
  const again = await ask({ 'If-None-Match': etag }, first);
  if (!isTimed && snapshotIdOf(again) === snapshotIdOf(first) && again.status !== 304)
    run.fault(`${target}: ${again.status} to the entity tag of this snapshot`);
  run.count('conditional requests');
}

/** Chooses a page. Returns undefined if its path cannot be requested. */
function pageQuestion(turn: Turn): Question | undefined {
  const operation = turn.random.pick(LISTS);
  const query = randomQuery(turn, operation);
  return (
    query && {
      target: targetOf(operation, query),
      isTimed: operation.collection === 'events',
      difference: (answer, variant) =>
        pageDifference(contentOf(variant, turn.organizationId).oracle, operation, query, answer),
    }
  );
}

/** Chooses a record. Returns undefined if its path cannot be requested. */
function recordQuestion({ run, organizationId, random }: Turn): Question | undefined {
  const operation = random.pick(RECORDS);
  const { collection } = operation;
  const { records } = contentOf(random.pick(run.variants), organizationId);
  const entries: readonly Entry<object>[] = records[collection];
  const id = String(Object.values(random.pick(entries).record)[0]);
  if (!isPathSegment(id)) return undefined;
  return {
    target: pathWith(operation, id),
    isTimed: collection === 'events',
    difference: ({ status, text }, variant) => {
      const expected = contentOf(variant, organizationId).oracle.record(operation.id, id, Date.now());
      const isRight =
        expected === undefined
          ? status === 404
          : status === 200 && isDeepStrictEqual(JSON.parse(text), expected);
      return isRight ? undefined : `${status} ${text.slice(0, 500)}`;
    },
  };
}

/** Returns a query whose values occur in one of the snapshots; undefined if its path cannot be requested. */
function randomQuery(
  { run, organizationId, random }: Turn,
  operation: ListOperation,
): RandomQuery | undefined {
  const variant = random.pick(run.variants);
  const all = variant.organizations.values().map(({ records }) => records);
  const { records } = contentOf(variant, organizationId);
  const query = new QueryMaker(random, [...all]).query(operation, records);
  return query.parentId === undefined || isPathSegment(query.parentId) ? query : undefined;
}

/** Follows the links of a list to its end. All pages together are the list in one snapshot. */
async function walk(turn: Turn): Promise<void> {
  const { run, connection, organizationId, credential, random } = turn;
  const operation = random.pick(LISTS);
  const query = randomQuery(turn, operation);
  if (query === undefined) return;
  const perPage = String(random.between(20, 100));
  const filters = query.parts.filter(([name]) => !['page', 'perPage'].includes(name));
  let target: string | null = targetOf(operation, { ...query, parts: [...filters, ['perPage', perPage]] });
  const sources = new Set<Variant>();
  for (let page = 1; target !== null && !run.signal.aborted; page++) {
    const answer = await run.ask(connection, target, credential);
    // The event of a list of sessions may not be in the live snapshot.
    if (page === 1 && answer.status === 404) return;
    const source = run.sourceOf(answer);
    const values = new Map([...query.values, ['page', String(page)], ['perPage', perPage]]);
    const { oracle } = contentOf(source, organizationId);
    const fault = pageDifference(oracle, operation, { ...query, values }, answer);
    if (fault !== undefined || sources.add(source).size > 1) {
      run.fault(`page ${page} of a walk over ${sources.size} snapshots, ${target}: ${String(fault)}`);
      return;
    }
    ({ nextPage: target } = JSON.parse(answer.text) as { nextPage: string | null });
    await run.pause(random.below(300));
  }
  if (target === null) run.count('walks');
}

/** Pipelines requests for pages of 100 tickets, and reads the responses slowly. */
async function readSlowly({ run, organizationId, credential }: Turn): Promise<void> {
  const began = performance.now();
  const socket = connect(run.replica.port, '127.0.0.1').on('error', () => undefined);
  const queries = Array.from({ length: SLOW_PAGES }, (_, i): RandomQuery => {
    const values = new Map([
      ['page', String(i + 1)],
      ['perPage', '100'],
    ]);
    return { values, parts: [...values], parentId: undefined };
  });
  try {
    const requests = queries.map((query, i) =>
      requestText(targetOf(LIST_TICKETS, query), credential, i === SLOW_PAGES - 1),
    );
    socket.write(requests.join(''));
    let received = '';
    for await (const part of socket.setEncoding('latin1')) {
      received += String(part);
      await delay((String(part).length / SLOW_BYTES) * SLOW_PAUSE_MS * SLOW_PAGES);
    }
    const answers = responsesIn(received);
    if (answers.length < SLOW_PAGES) throw new Error(`${answers.length} of ${SLOW_PAGES} responses`);
    for (const [i, answer] of answers.entries()) {
      const { oracle } = contentOf(run.sourceOf(answer), organizationId);
      const fault = pageDifference(oracle, LIST_TICKETS, queries[i], answer);
      if (fault !== undefined) run.fault(`page ${i + 1} of a slow reader: ${fault}`);
    }
    run.count('pages read slowly', answers.length);
  } catch (error) {
    if (!run.isLost('', began)) throw error;
    run.count('connections lost with a worker');
  } finally {
    socket.destroy();
  }
}

/** Opens a connection, sends a part of some requests, and closes it at a random moment, with or without a reset. */
async function quit({ run, credential, random }: Turn): Promise<void> {
  const socket = connect(run.replica.port, '127.0.0.1').on('error', () => undefined);
  const sent = requestText('/v1/tickets?perPage=100', credential, false).repeat(3);
  socket.write(sent.slice(0, random.below(sent.length + 1)));
  await delay(random.below(30));
  if (random.chance(0.5)) socket.resetAndDestroy();
  else socket.destroy();
  if (!socket.closed) await once(socket, 'close');
  run.count('aborted connections');
  await delay(random.below(100));
}

function requestText(target: string, credential: string, isLast: boolean): string {
  const close = isLast ? 'Connection: close\r\n' : '';
  return `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${credential}\r\n${close}\r\n`;
}
