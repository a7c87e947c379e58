import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { times } from '../support/records.ts';
import { type Answer, type Environment, ReplicaUnderTest } from '../support/replica-under-test.ts';
import type { InFolder } from '../support/temporary-folder.ts';
import { FleetClient } from './fleet-client.ts';
import { Proxy, type ProxyProgram, type Upstream } from './proxy.ts';

export const HOST = 'tickets.example.org';

/** A replica of a fleet, whose ports and folder stay when it ends and starts again. */
export class Member implements Upstream {
  readonly id: number;
  readonly port: number;
  readonly adminPort: number;
  /** Its folder, with `snapshots`. */
  readonly inFolder: InFolder;
  readonly #environment: Environment;
  #process: ReplicaUnderTest | undefined;

  constructor(upstream: Upstream, inFolder: InFolder, environment: Environment) {
    this.id = upstream.id;
    this.port = upstream.port;
    this.adminPort = upstream.adminPort;
    this.inFolder = inFolder;
    this.#environment = environment;
    mkdirSync(inFolder('snapshots'), { recursive: true });
  }

  /** Starts a process, by default of this version in its folder, and waits until a snapshot and keys are live. */
  async start(inFolder = this.inFolder, command?: readonly string[]): Promise<void> {
    const environment = {
      PORT: String(this.port),
      ADMIN_PORT: String(this.adminPort),
      TRUST_PROXY: 'loopback',
      PUBLIC_BASE_URL: `https://${HOST}`,
      // An empty variable has its default: the proxy notices that the replica stops.
      SHUTDOWN_DELAY_SECONDS: '',
      ...this.#environment,
    };
    this.#process = await ReplicaUnderTest.startReady(inFolder, environment, { command });
  }

  /** The process that was started last. */
  get process(): ReplicaUnderTest {
    if (this.#process === undefined) throw new Error(`replica ${this.id} was not started`);
    return this.#process;
  }

  /** Ends the process by a signal. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#process?.signal(signal);
    await this.#process?.ended;
  }
}

interface FleetOptions {
  readonly program: ProxyProgram;
  /** Numbers of replicas of each shard. Ids count over all shards. */
  readonly shards: readonly number[];
  readonly inFolder: InFolder;
  /** Of every replica, besides the keys file `keys.sqlite` of the folder. */
  readonly environment?: Environment;
  /** Places the first snapshots of a replica in its folder. */
  readonly place: (inFolder: InFolder, id: number) => void;
}

/** Replicas in processes of their own, behind a proxy with TLS. */
export class Fleet implements AsyncDisposable {
  readonly members: readonly Member[];
  readonly shards: readonly (readonly Member[])[];
  readonly proxy: Proxy;
  /** A client of the proxy, with connections that stay open. */
  readonly client: FleetClient;
  readonly #certificate: string;

  private constructor(shards: readonly (readonly Member[])[], proxy: Proxy, certificate: string) {
    this.shards = shards;
    this.members = shards.flat();
    this.proxy = proxy;
    this.#certificate = certificate;
    this.client = this.newClient();
  }

  static async start({ program, shards, inFolder, environment = {}, place }: FleetOptions): Promise<Fleet> {
    let id = 0;
    const newMember = async () => {
      const upstream = { id: ++id, port: await freePort(), adminPort: await freePort() };
      const inOwn = (name: string) => inFolder(`replica-${upstream.id}/${name}`);
      const member = new Member(upstream, inOwn, { KEYS_FILE: inFolder('keys.sqlite'), ...environment });
      place(inOwn, upstream.id);
      return member;
    };
    const members: Member[][] = [];
    for (const count of shards) members.push(await Array.fromAsync({ length: count }, newMember));
    const certificate = makeCertificate(inFolder('proxy'));
    const starts = members.flat().map((member) => member.start());
    try {
      await Promise.all(starts);
      const proxy = await Proxy.start(program, { folder: inFolder('proxy'), shards: members });
      return new Fleet(members, proxy, certificate);
    } catch (error) {
      await Promise.allSettled(starts);
      await Promise.all(members.flat().map((member) => member.end('SIGKILL')));
      throw error;
    }
  }

  /** Returns a client of its own, from an address in 127.0.0.0/8. */
  newClient(address = '127.0.0.1'): FleetClient {
    return new FleetClient({ port: this.proxy.port, host: HOST, address, certificate: this.#certificate });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.proxy[Symbol.asyncDispose]();
    await Promise.all(this.members.map((member) => member.end('SIGKILL')));
  }
}

/** Makes a certificate of `HOST` that signs itself, in the files of the configurations. Returns it. */
function makeCertificate(folder: string): string {
  mkdirSync(folder);
  const [key, file, both] = ['tickets.key', 'tickets.pem', 'foyer.pem'].map((name) => join(folder, name));
  const options = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${HOST}`;
  const output = ['-addext', `subjectAltName=DNS:${HOST}`, '-keyout', key, '-out', file];
  execFileSync('openssl', [...options.split(' '), ...output], { stdio: 'ignore' });
  const certificate = readFileSync(file, 'utf8');
  writeFileSync(both, certificate + readFileSync(key, 'utf8'));
  return certificate;
}

/** Waits until the proxy sends requests to a replica that was started again. */
export const receivesRequests = (replica: ReplicaUnderTest): Promise<void> =>
  eventually(async () => (await replica.metric('foyer_requests_total')) > 0);

/** The tickets of an organization, and a credential of it. */
interface Walked {
  readonly credential: string;
  readonly tickets: number;
}

const WALKERS = 12;
const PER_PAGE = 25;
/** Keeps a walk below the requests that a proxy admits from an address. */
const PAUSE_MS = 5;

/**
 * Lets patient clients read all tickets of organizations page by page, one walk after the other, during `work`. Expects
 * every request to be answered with 200, and each ticket once in a walk.
 * @param work gets a function that waits for further walks
 * @returns the numbers of requests that were repeated, by reason
 */
export async function whileWalking(
  fleet: Fleet,
  organizations: readonly Walked[],
  work: (walks: (count: number) => Promise<void>) => Promise<void>,
): Promise<FleetClient['repeats']> {
  const clients = times(WALKERS, (i) => fleet.newClient(`127.0.4.${i + 1}`));
  let walks = 0;
  let isOver = false;
  const walkers = clients.map(async (client, i) => {
    for (let n = i; !isOver; n += WALKERS, walks++)
      await walk(client, organizations[n % organizations.length]);
  });
  const all = Promise.all(walkers);
  const further = (count: number) => {
    const target = walks + count;
    return eventually(() => isOver || walks >= target);
  };
  try {
    await Promise.race([all, work(further)]);
  } finally {
    isOver = true;
  }
  await all;
  for (const client of clients) client.close();
  const sum = (reason: 'broken' | 'later') => clients.reduce((total, one) => total + one.repeats[reason], 0);
  return { broken: sum('broken'), later: sum('later') };
}

async function walk(client: FleetClient, { credential, tickets }: Walked): Promise<void> {
  const ids: string[] = [];
  for await (const { status, text, items = [] } of pages(client, credential)) {
    expect(status, text).to.equal(200);
    ids.push(...items.map(({ ticketId }) => ticketId));
    await delay(PAUSE_MS);
  }
  expect(ids).to.have.length(tickets);
  expect(new Set(ids).size).to.equal(tickets);
}

export interface WalkedTicket {
  readonly ticketId: string;
  readonly offerName: string | null;
}

interface Page {
  readonly items?: readonly WalkedTicket[];
  readonly nextPage?: string | null;
}

/** Follows the links of the list of tickets, to its end or to a failure, which has no items. */
export async function* pages(client: FleetClient, credential: string): AsyncGenerator<Answer & Page> {
  for (let next: string | null | undefined = `/v1/tickets?perPage=${PER_PAGE}`; next;) {
    const answer: Answer = await client.persist(next, credential);
    const page = JSON.parse(answer.text) as Page;
    yield { ...answer, ...page };
    next = page.nextPage;
  }
}
