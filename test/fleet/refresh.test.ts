import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { FoyerClient } from '../../client/src/foyer-client.ts';
import { Random } from '../../scripts/sample/random.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { needs } from '../support/components.ts';
import { byDepth } from '../support/depth.ts';
import { eventually } from '../support/eventually.ts';
import { buildFile, PRODUCED_AT } from '../support/import-folder.ts';
import { inOrganization, minimalTicket, times } from '../support/records.ts';
import { newCredential } from '../support/replica-under-test.ts';
import { folderForAll, type InFolder } from '../support/temporary-folder.ts';
import { Fleet, type Member, pages, type WalkedTicket } from './fleet.ts';
import type { FleetClient } from './fleet-client.ts';
import { Machine } from './machine.ts';
import type { ProxyProgram } from './proxy.ts';

const SEED = 20_261_125;
const REPLICAS = 3;
/** Enough that each ticket changes and is absent. */
const SWAPS = byDepth({ short: 7, deep: 50 });
/** Least time between two swaps. */
const INTERVAL_MS = byDepth({ short: 0, deep: 12_000 });
const WALKERS = 100;
const STREAMERS = 20;
/** Longest pause of a client between two requests. */
const PAUSE_MS = 600;
const COPIES = 10;

const ORGANIZATIONS = times(12, (i) => `org-${i}`);
const TICKETS = 150;
/** A ticket changes in every fifth snapshot, and is absent from every seventh. */
const CHANGED = 5;
const ABSENT = 7;

/** The marks of an organization's tickets in the snapshot `n`, by id: the number of the snapshot that changed them. */
function ticketsIn(n: number): Map<string, number> {
  const present = times(TICKETS, (i) => i).filter((i) => (i + n) % ABSENT !== 0);
  return new Map(present.map((i) => [`t${i}`, Math.max(0, n - ((n + i) % CHANGED))]));
}

const timeOf = (n: number) => new Date(PRODUCED_AT.getTime() + n * 1000);
const snapshotAt = (time: string) => (Date.parse(time) - PRODUCED_AT.getTime()) / 1000;

const marksOf = (tickets: readonly WalkedTicket[]) =>
  new Map(tickets.map(({ ticketId, offerName }) => [ticketId, Number(offerName)]));

/** Builds all snapshots, each a descendant of the one before it. */
async function buildSnapshots(inFolder: InFolder): Promise<void> {
  for (let n = 0; n <= SWAPS; n++) {
    const tickets = ORGANIZATIONS.flatMap((id) =>
      Array.from(ticketsIn(n), ([ticketId, mark]) =>
        minimalTicket(ticketId, { offerName: String(mark) }),
      ).map(inOrganization(id)),
    );
    const organizations = ORGANIZATIONS.map((organizationId) => ({ organizationId }));
    const previous = n === 0 ? undefined : inFolder(snapshotName(n - 1));
    const options = { producedAt: timeOf(n), previous };
    await buildFile({ organizations, tickets }, inFolder(snapshotName(n)), options);
  }
}

const snapshotName = (n: number) => `main-${n}.sqlite`;

/** What the clients of a run do, and found. */
class Run {
  readonly faults: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly random = new Random(SEED);
  isOver = false;

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** Repeats work until the run is over. A rejection is a fault. */
  async repeat(what: string, work: () => Promise<void>): Promise<void> {
    while (!this.isOver) {
      try {
        await work();
        this.count(what);
        await delay(this.random.below(PAUSE_MS));
      } catch (error) {
        this.faults.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
        this.isOver ||= this.faults.length > 20;
      }
    }
  }
}

/** Returns whether the processes of all replicas have had a snapshot. One that was started again lacks earlier ones. */
const haveHad = (members: readonly Member[], n: number) =>
  members.every(({ process }) => {
    const live = { msg: 'snapshot live', producedAt: timeOf(n).toISOString() };
    return process.isRunning && process.linesOf(live).length > 0;
  });

/**
 * Follows the links of a list to its end. All pages together are the list in one snapshot. Ends before if a page is
 * refused that was requested while a replica lacked that snapshot.
 */
async function walk(client: FleetClient, credential: string, run: Run, members: readonly Member[]) {
  const read: WalkedTicket[] = [];
  let n = NaN;
  let mayBeRefused = false;
  for await (const { status, headers, text, items = [] } of pages(client, credential)) {
    if (status !== 200 && mayBeRefused) {
      run.count('walks begun again');
      return;
    }
    expect(status, `snapshot ${n} after ${read.length} tickets: ${text}`).to.equal(200);
    if (read.length === 0) n = snapshotAt(String(headers['service-data-as-of']));
    read.push(...items);
    await delay(run.random.below(PAUSE_MS));
    mayBeRefused = !haveHad(members, n);
  }
  expect(read, `tickets of snapshot ${n}`).to.have.length(ticketsIn(n).size);
  expect(marksOf(read), `snapshot ${n}`).to.deep.equal(ticketsIn(n));
}

/** Reads a list as a stream. One that is complete is the list in one snapshot. */
async function stream(client: FleetClient, credential: string, run: Run): Promise<void> {
  const response = await client
    .open('/v1/tickets', credential, { Accept: 'application/x-ndjson' })
    .catch(() => undefined);
  if (response === undefined) return;
  if (response.statusCode !== 200) {
    response.resume();
    expect(response.headers, String(response.statusCode)).to.have.property('retry-after');
    await delay(1000 * Number(response.headers['retry-after']));
    return;
  }
  const n = snapshotAt(String(response.headers['service-data-as-of']));
  const body = await text(response).catch(() => undefined);
  if (body === undefined) run.count('streams that broke off');
  else {
    const lines = body.split('\n').slice(0, -1);
    expect(marksOf(lines.map((line) => JSON.parse(line) as WalkedTicket)), `snapshot ${n}`).to.deep.equal(
      ticketsIn(n),
    );
  }
}

/** A copy by `/v1/changes`, each request of which goes to another replica than the one before. */
class TicketCopy {
  resets = 0;
  /** Number of the snapshot that the copy equals. */
  latest = NaN;
  #tickets = new Map<string, number>();
  #token: string | undefined;
  readonly #client: FoyerClient;

  constructor(members: readonly Member[], credential: string, requests: number) {
    this.#client = new FoyerClient({
      baseUrl: 'http://replica.invalid',
      credential,
      maxAttempts: 1000,
      maxWaitSeconds: 600,
      fetch: (url, init) => {
        const { pathname, search } = new URL(url instanceof Request ? url.url : url);
        const { port } = members[requests++ % members.length];
        return fetch(`http://127.0.0.1:${port}${pathname}${search}`, init);
      },
    });
  }

  /** Makes a round, after which the copy equals a snapshot. */
  async follow(): Promise<void> {
    let [tickets, resets] = [this.#tickets, 0];
    const { next, dataAsOf } = await this.#client.sync(
      {
        begin: () => {
          [tickets, resets] = [new Map(this.#tickets), 0];
        },
        clear: () => {
          resets++;
          tickets.clear();
        },
        remove: (keys) => {
          for (const { id } of keys) tickets.delete(id);
        },
        put: (entries) => {
          for (const { id, record } of entries)
            if ('offerName' in record) tickets.set(id, Number(record.offerName));
        },
        commit: () => undefined,
        rollback: () => undefined,
      },
      this.#token,
      { collections: ['tickets'] },
    );
    this.#tickets = tickets;
    this.#token = next;
    this.resets += resets;
    this.latest = snapshotAt(dataAsOf);
    expect(tickets, `copy of snapshot ${this.latest}`).to.deep.equal(ticketsIn(this.latest));
  }
}

describe(`A fleet over ${SWAPS} swaps (seed ${SEED})`, function () {
  this.timeout(byDepth({ short: 600_000, deep: 1_200_000 }));
  const snapshots = folderForAll();
  before(() => buildSnapshots(snapshots));

  for (const program of ['nginx', 'haproxy'] satisfies readonly ProxyProgram[]) {
    describe(`behind ${program}`, () => {
      needs(program);
      needs('openssl');
      needs('rclone');
      needs('zstd');
      const run = new Run();
      let fleet: Fleet;
      let copies: TicketCopy[];
      let working: Promise<unknown>;

      // Before the folder is removed: a replica that is being started needs its files.
      after(async () => {
        run.isOver = true;
        await working;
        await fleet[Symbol.asyncDispose]();
      });
      const inFolder = folderForAll();
      const machine = (folder: string) => new Machine(inFolder(folder), inFolder('store'));
      const push = (n: number) => machine('pusher').outputOf(`push ${snapshots(snapshotName(n))} --as main`);
      const pull = (id: number) => machine(`replica-${id}`).outputOf('pull main');

      before(async () => {
        mkdirSync(inFolder('store'));
        await push(0);
        const credentials = ORGANIZATIONS.map((id) => newCredential(inFolder, id));
        // Each stream has a key of its own.
        const keys = times(STREAMERS, (i) =>
          newCredential(inFolder, ORGANIZATIONS[i % ORGANIZATIONS.length]),
        );
        const environment = { SNAPSHOT_RETAIN_UNWALKED_SECONDS: '60' };
        for (let id = 1; id <= REPLICAS; id++) await pull(id);
        fleet = await Fleet.start({
          program,
          shards: [REPLICAS],
          inFolder,
          environment,
          place: () => undefined,
        });
        const clients = times(WALKERS + STREAMERS, (i) => fleet.newClient(`127.0.4.${i + 1}`));
        copies = times(COPIES, (i) => new TicketCopy(fleet.members, credentials[i], i));
        working = Promise.all([
          ...times(WALKERS, (i) =>
            run.repeat('walks', () => walk(clients[i], run.random.pick(credentials), run, fleet.members)),
          ),
          ...keys.map((key, i) => run.repeat('streams', () => stream(clients[WALKERS + i], key, run))),
          ...copies.map((copy) => run.repeat('rounds of copies', () => copy.follow())),
          run.repeat('restarts', restart),
        ]).finally(() => {
          for (const client of clients) client.close();
        });
      });

      /** Kills a replica, or every third time stops it, and starts it again. */
      async function restart(): Promise<void> {
        const member = run.random.pick(fleet.members);
        await member.end((run.counts['restarts'] ?? 0) % 3 === 2 ? 'SIGTERM' : 'SIGKILL');
        await member.start();
        await delay(run.random.between(1000, 4000));
      }

      /** Lets each machine pull at a moment of its own. */
      async function pullAll(): Promise<void> {
        const pulls = fleet.members.map(async (member) => {
          await delay(run.random.below(1500));
          await pull(member.id);
        });
        await Promise.all(pulls);
      }

      /** Waits until clients have made walks. */
      async function walksMade(count: number): Promise<void> {
        const made = () => run.counts['walks'] ?? 0;
        const target = made() + count;
        await eventually(() => run.isOver || made() >= target);
      }

      it('answers all requests during swaps and restarts, each from one snapshot', async () => {
        for (let n = 1; n <= SWAPS && !run.isOver; n++) {
          const next = delay(INTERVAL_MS);
          await push(n);
          await pullAll();
          await next;
        }
        expect(run.faults).to.deep.equal([]);
        const { walks, 'walks begun again': begunAgain = 0 } = run.counts;
        expect(begunAgain / walks).to.be.below(0.05);
      });

      it('lets copies go on at any replica, without a reset', () => {
        expect(copies.map(({ resets }) => resets)).to.deep.equal(copies.map(() => 1));
      });

      it('answers all requests while the machines are pinned back, and when they are released', async () => {
        const { snapshotId } = inspectSnapshot(snapshots(snapshotName(SWAPS - 4)));
        writeFileSync(inFolder('store/main/pin'), snapshotId);
        await pullAll();
        await walksMade(WALKERS);
        rmSync(inFolder('store/main/pin'));
        await pullAll();
        await walksMade(WALKERS);
        expect(run.faults).to.deep.equal([]);
      });

      it('brings all copies to the last snapshot', async () => {
        await eventually(() => run.isOver || copies.every(({ latest }) => latest === SWAPS));
        expect(run.faults).to.deep.equal([]);
      });
    });
  }
});
