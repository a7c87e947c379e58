import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../scripts/sample/random.ts';
import { Connection } from '../support/connections.ts';
import type { Organization } from '../support/oracle/random-organization.ts';
import { LISTS, pageDifference, randomQuery, randomRead, targetOf } from '../support/oracle/random-read.ts';
import type { Answer } from '../support/replica-under-test.ts';
import { contentOf, snapshotIdOf, type SoakRun, type Variant } from './soak-run.ts';

/** The clients of a soak. Each repeats its requests, and compares the responses with the records of their snapshot. */

/** One turn of a client, for an organization. */
interface Turn {
  readonly run: SoakRun;
  readonly connection: Connection;
  readonly organizationId: string;
  readonly credential: string;
  readonly random: Random;
}

const CLIENTS: readonly (readonly [count: number, work: (turn: Turn) => Promise<void>])[] = [
  [8, read],
  [3, walk],
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

/** Requests a record or a page, and then often the same with its entity tag. */
async function read(turn: Turn): Promise<void> {
  const { run, connection, organizationId, credential, random } = turn;
  const { target, isTimed, difference } = randomRead(random, ...recordsFor(turn));
  await delay(random.below(20));
  /** Compares with each snapshot that was live during the request. A 304 confirms the earlier response. */
  const ask = async (headers: Readonly<Record<string, string>>, earlier?: Answer): Promise<Answer> => {
    const began = performance.now();
    const answer = await run.ask(connection, target, credential, headers);
    const compared = answer.status === 304 && earlier !== undefined ? earlier : answer;
    const differences = run
      .sourcesOf(answer, began)
      .map((variant) => difference(compared, contentOf(variant, organizationId).oracle));
    if (!differences.includes(undefined)) run.fault(`${target}: ${String(differences[0])}`);
    return answer;
  };
  const first = await ask({});
  run.count('pages and records');
  const { etag } = first.headers;
  if (etag === undefined || random.chance(0.5)) return;
  const again = await ask({ 'If-None-Match': etag }, first);
  if (!isTimed && snapshotIdOf(again) === snapshotIdOf(first) && again.status !== 304)
    run.fault(`${target}: ${again.status} to the entity tag of this snapshot`);
  run.count('conditional requests');
}

/** Returns the records of the organization in one of the snapshots, and those of all organizations. */
function recordsFor({ run, organizationId, random }: Turn): [Organization, Organization[]] {
  const variant = random.pick(run.variants);
  const all = variant.organizations.values().map(({ records }) => records);
  return [contentOf(variant, organizationId).records, [...all]];
}

/** Follows the links of a list to its end. All pages together are the list in one snapshot. */
async function walk(turn: Turn): Promise<void> {
  const { run, connection, organizationId, credential, random } = turn;
  const operation = random.pick(LISTS);
  const query = randomQuery(random, operation, ...recordsFor(turn));
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

/** Opens a connection, sends a part of some requests, and closes it at a random moment, with or without a reset. */
async function quit({ run, credential, random }: Turn): Promise<void> {
  const socket = connect(run.replica.port, '127.0.0.1').on('error', () => undefined);
  const request = `GET /v1/tickets?perPage=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${credential}\r\n\r\n`;
  const sent = request.repeat(3);
  socket.write(sent.slice(0, random.below(sent.length + 1)));
  await delay(random.below(30));
  if (random.chance(0.5)) socket.resetAndDestroy();
  else socket.destroy();
  if (!socket.closed) await once(socket, 'close');
  run.count('aborted connections');
  await delay(random.below(100));
}
