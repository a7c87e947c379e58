import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { PREVIEW, VERSION_HEADER } from '../../src/contract/releases.ts';
import type { Random } from '../sample/random.ts';
import { type Content, contentIn, type StoredRecord } from './content.ts';
import { itemsFault, type Page, pageFault, randomList, recordsIn, targetOf } from './questions.ts';
import { type Answer, threadOf } from './soak-replica.ts';
import { snapshotIdOf, type SoakRun } from './soak-run.ts';

/** The clients of a soak. Each repeats its requests, and compares the responses with the content of their snapshot. */

const READERS = 6;
const WALKERS = 3;
const SLOW_READERS = 2;
const QUITTERS = 2;
/** Pages of 100 that a slow reader requests at once: more than the buffers of the system hold. */
const SLOW_PAGES = 8;
const SLOW_BYTES = 128 * 1024;
const SLOW_PAUSE_MS = 30;

/** Starts all clients. Fulfilled when they have ended. */
export async function runClients(run: SoakRun): Promise<void> {
  const clients = [
    [READERS, read],
    [WALKERS, walk],
    [SLOW_READERS, readSlowly],
    [QUITTERS, quit],
  ] as const;
  await Promise.all(
    clients.flatMap(([count, work]) =>
      Array.from({ length: count }, async () => {
        const client = new Client(run);
        await run.repeat(work.name, (random) => work(client, random));
        client.close();
      }),
    ),
  );
}

/** A client with one connection at a time. */
class Client {
  readonly run: SoakRun;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** The worker of the connection, by its thread; undefined before its first response. */
  #thread: string | undefined;

  constructor(run: SoakRun) {
    this.run = run;
  }

  headersOf(organizationId: string): Readonly<Record<string, string>> {
    const credential = this.run.credentials.get(organizationId) ?? '';
    return { Authorization: `Bearer ${credential}`, [VERSION_HEADER]: PREVIEW };
  }

  /**
   * Sends a request. Repeats it when the connection was lost with its worker.
   * @throws the error of the connection, in any other case
   */
  async ask(
    target: string,
    organizationId: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const { run } = this;
    for (;;) {
      const began = performance.now();
      try {
        run.count('requests');
        const all = { ...this.headersOf(organizationId), ...headers };
        const answer = await run.replica.request(target, this.#agent, all);
        this.#thread = threadOf(answer);
        return answer;
      } catch (error) {
        if (!run.replica.isLost(this.#thread, began)) throw error;
        run.count('connections lost with a worker');
        this.#thread = undefined;
        await delay(10);
      }
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Requests a record or a page, and then the same page with its entity tag. */
async function read(client: Client, random: Random): Promise<void> {
  const { run } = client;
  const organizationId = random.pick([...run.credentials.keys()]);
  const content = contentIn(random.pick(run.data.variants), organizationId);
  await delay(random.below(20));
  if (random.chance(0.4)) {
    const { id } = random.pick(content.tickets);
    await askLive(client, `/v1/tickets/${id}`, organizationId, (answer, { tickets }) => {
      const stored = tickets.find((ticket) => ticket.id === id);
      const isRight = stored === undefined ? answer.status === 404 : answer.text === stored.text;
      return isRight ? undefined : `${answer.status} ${answer.text.slice(0, 200)}`;
    });
    run.count('records');
    return;
  }
  const list = randomList(random, content);
  const page: Page = { list, page: random.between(1, 4), perPage: random.between(1, 100) };
  const target = targetOf(page);
  const pageDifference = (answer: Answer, source: Content) => pageFault(page, answer, source);
  const first = await askLive(client, target, organizationId, pageDifference);
  run.count('pages');
  const { etag } = first.headers;
  if (etag === undefined || random.chance(0.5)) return;

  const differenceAgain = (answer: Answer, source: Content) => {
    const isSame = snapshotIdOf(answer) === snapshotIdOf(first);
    if (answer.status === 304) return isSame ? undefined : '304 to the entity tag of another snapshot';
    // The entity tag of events changes with the time, too.
    if (isSame && list.of !== 'events') return `${answer.status} to the entity tag of this snapshot`;
    return pageFault(page, answer, source);
  };
  await askLive(client, target, organizationId, differenceAgain, { 'If-None-Match': etag });
  run.count('conditional requests');
}

/** Sends a request whose response must be right for a snapshot that was live during the request. */
async function askLive(
  client: Client,
  target: string,
  organizationId: string,
  difference: (answer: Answer, content: Content) => string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { run } = client;
  const began = performance.now();
  const answer = await client.ask(target, organizationId, headers);
  const differences = run
    .sourcesOf(answer, began)
    .map((variant) => difference(answer, contentIn(variant, organizationId)));
  if (!differences.includes(undefined)) run.fault(`${target}: ${String(differences[0])}`);
  return answer;
}

/** Follows the links of a list to its end. All pages together are the list in one snapshot. */
async function walk(client: Client, random: Random): Promise<void> {
  const { run } = client;
  const organizationId = random.pick([...run.credentials.keys()]);
  const list = randomList(random, contentIn(random.pick(run.data.variants), organizationId));
  const perPage = random.between(20, 100);
  const snapshots = new Set<unknown>();
  let target: string | null = targetOf({ list, page: 1, perPage });
  let expected: readonly StoredRecord[] = [];
  for (let page = 1; target !== null && !run.signal.aborted; page++) {
    const answer = await client.ask(target, organizationId);
    // The random event of a list of sessions may not be in the live snapshot.
    if (page === 1 && answer.status === 404 && list.of === 'sessions') return;
    snapshots.add(snapshotIdOf(answer));
    if (page === 1) expected = recordsIn(list, contentIn(run.sourceOf(answer), organizationId));
    const fault =
      answer.status === 200
        ? itemsFault(list.of, answer.text, expected.slice((page - 1) * perPage, page * perPage))
        : `${answer.status} ${answer.text.slice(0, 200)}`;
    if (fault !== undefined || snapshots.size > 1) {
      run.fault(`page ${page} of a walk over ${snapshots.size} snapshots, ${target}: ${String(fault)}`);
      return;
    }
    ({ nextPage: target } = JSON.parse(answer.text) as { nextPage: string | null });
    if (target === null && page * perPage < expected.length) run.fault(`a walk ended on page ${page}`);
    await run.pause(random.below(300));
  }
  if (target === null) run.count('walks');
}

/** Pipelines requests for pages of 100 tickets, and reads the responses slowly. */
async function readSlowly(client: Client, random: Random): Promise<void> {
  const { run } = client;
  const began = performance.now();
  const organizationId = random.pick([...run.credentials.keys()]);
  const socket = connect(run.replica.port, '127.0.0.1');
  try {
    const requests = Array.from({ length: SLOW_PAGES }, (_, i) =>
      requestText(
        `/v1/tickets?perPage=100&page=${i + 1}`,
        client.headersOf(organizationId),
        i === SLOW_PAGES - 1,
      ),
    );
    socket.write(requests.join(''));
    let received = '';
    socket.setEncoding('latin1').on('error', () => undefined);
    for await (const part of socket) {
      received += String(part);
      await delay((String(part).length / SLOW_BYTES) * SLOW_PAUSE_MS * SLOW_PAGES);
    }
    const answers = parseAnswers(received);
    if (answers.length < SLOW_PAGES) throw new Error(`${answers.length} of ${SLOW_PAGES} responses`);
    for (const [i, answer] of answers.entries()) {
      const list = { target: '/v1/tickets', of: 'tickets', has: () => true } as const;
      const page = { list, page: i + 1, perPage: 100 };
      const fault = pageFault(page, answer, contentIn(run.sourceOf(answer), organizationId));
      if (fault !== undefined) run.fault(`page ${i + 1} of a slow reader: ${fault}`);
    }
    run.count('pages read slowly', answers.length);
  } catch (error) {
    if (!run.replica.isLost(undefined, began)) throw error;
    run.count('connections lost with a worker');
  } finally {
    socket.destroy();
  }
}

function requestText(target: string, headers: Readonly<Record<string, string>>, isLast: boolean): string {
  const all = { Host: 'localhost', ...headers, ...(isLast ? { Connection: 'close' } : {}) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Splits the bytes of a connection into responses by their lengths. The last may be incomplete. */
function parseAnswers(received: string): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; ;) {
    const end = received.indexOf('\r\n\r\n', at);
    if (end < 0) return answers;
    const [statusLine, ...lines] = received.slice(at, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => line.split(': ', 2)).map(([name, value]) => [name.toLowerCase(), value]),
    );
    at = end + 4 + Number(headers['content-length'] ?? 0);
    if (at > received.length) return answers;
    const text = Buffer.from(received.slice(end + 4, at), 'latin1').toString();
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, text });
  }
}

/** Opens a connection, sends a part of some requests, and closes it at a random moment, with or without a reset. */
async function quit(client: Client, random: Random): Promise<void> {
  const { run } = client;
  const organizationId = random.pick([...run.credentials.keys()]);
  const socket = connect(run.replica.port, '127.0.0.1').on('error', () => undefined);
  const sent = requestText('/v1/tickets?perPage=100', client.headersOf(organizationId), false).repeat(3);
  socket.write(sent.slice(0, random.below(sent.length + 1)));
  await delay(random.below(30));
  if (random.chance(0.5)) socket.resetAndDestroy();
  else socket.destroy();
  if (!socket.closed) await once(socket, 'close');
  run.count('aborted connections');
  await delay(random.below(100));
}
