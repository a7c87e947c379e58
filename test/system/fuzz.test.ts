import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { expectConformance } from '../support/conformance.ts';
import { byDepth } from '../support/depth.ts';
import { builtFrom } from '../support/import-folder.ts';
import { exchange, responsesIn, wholeResponsesIn } from '../support/raw-responses.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { type FuzzRequest, malformedRequest, wellFormedRequest } from './fuzz-requests.ts';

const SEED = 20_261_122;
/** Connections of each kind, with one to four requests each. */
const CONNECTIONS = byDepth({ short: 600, deep: 12_000 });
const CONCURRENT = 8;
/** Time for all responses of a connection. */
const SLOW_MS = byDepth({ short: 500, deep: 50 });
const TRIES = 3;
const GROWTH_BYTES = 150e6;

describe(`A replica that receives random bytes (seed ${SEED})`, function () {
  this.timeout(byDepth({ short: 300_000, deep: 600_000 }));
  const inFolder = folderForAll();
  let replica: ReplicaUnderTest;
  let authorizations: string[];

  before(async () => {
    await builtFrom(inFolder('snapshots'), SMALL_IMPORT);
    const keys = ['north', 'south'].map((id) => `Bearer ${newCredential(inFolder, id)}`);
    authorizations = [...keys, ...keys, ...keys, 'Bearer svc:o:north:none', 'Bearer svc:o:', 'none'];
    replica = await ReplicaUnderTest.startReady(inFolder, { THREADS: '2', REFUSALS_PER_MINUTE: '0' });
  });
  after(() => replica.end());

  /**
   * Handles `CONNECTIONS` connections, `CONCURRENT` at a time. Repeats slow ones alone, on the idle replica: requests that
   * are slow each time fail.
   */
  async function forEachConnection(
    handle: (
      random: Random,
      send: (requests: readonly FuzzRequest[], end: End) => Promise<string>,
    ) => Promise<void>,
  ): Promise<void> {
    const slow: [requests: readonly FuzzRequest[], end: End][] = [];
    const timed = async (requests: readonly FuzzRequest[], end: End) => {
      const start = performance.now();
      const received = await send(replica.port, requests, end);
      return { received, ms: performance.now() - start };
    };
    let next = 0;
    const handleInTurn = async () => {
      for (let i = next++; i < CONNECTIONS; i = next++) {
        const sending = handle(new Random(SEED + i), async (requests, end) => {
          const { received, ms } = await timed(requests, end);
          if (ms > SLOW_MS) slow.push([requests, end]);
          return received;
        });
        await sending.catch((error: unknown) => {
          throw new Error(`connection ${i}: ${String(error)}`, { cause: error });
        });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, handleInTurn));
    for (const [requests, end] of slow) {
      let fastest = Infinity;
      for (let i = 0; i < TRIES; i++) fastest = Math.min(fastest, (await timed(requests, end)).ms);
      expect(fastest, textOf(requests)).to.be.below(SLOW_MS);
    }
  }

  async function expectHealthy(): Promise<void> {
    expect(replica.isRunning).to.equal(true);
    const { status } = await replica.request('/v1/tickets', authorizations[0].replace('Bearer ', ''));
    expect(status).to.equal(200);
    const warnings = replica.log.filter(({ level }) => level !== 'info');
    // Refusals without a log line of their own have a summary.
    expect(warnings.filter(({ network }) => network === undefined)).to.deep.equal([]);
  }

  it('answers each well-formed request of a pipeline as the OpenAPI document says', async () => {
    const statuses = new Set<number>();
    await forEachConnection(async (random, send) => {
      const requests = Array.from({ length: random.between(1, 4) }, () =>
        wellFormedRequest(random, authorizations),
      );
      const responses = responsesIn(await send(requests, 'last response'));
      expect(responses, textOf(requests)).to.have.length(requests.length);
      for (const [i, { method, target = '' }] of requests.entries()) {
        statuses.add(responses[i].status);
        expectConformance({ method, target, ...responses[i] });
      }
    });
    expect([...statuses]).to.include.members([200, 204, 304, 400, 403, 404, 405]);
    await expectHealthy();
  });

  it('answers malformed requests by problems in JSON, or not at all', async () => {
    const before = await replica.metric('process_resident_memory_bytes');
    const statuses = new Set<number>();
    await forEachConnection(async (random, send) => {
      const requests = Array.from({ length: random.between(1, 4) }, () =>
        random.chance(0.8)
          ? malformedRequest(random, authorizations)
          : wellFormedRequest(random, authorizations),
      );
      const end = random.chance(0.1) ? 'early' : random.chance(0.3) ? 'pieces' : 'half-close';
      for (const response of responsesIn(await send(requests, end))) {
        const { status, text } = response;
        statuses.add(status);
        expect(status, textOf(requests)).to.be.below(500);
        expect(text).not.to.match(/<!doctype|<html|<pre/i);
        // The damaged request may be one of any operation: each list documents `errors`.
        const target = /^\{"detail":.*"errors":\[/.test(text) ? '/v1/tickets' : '';
        expectConformance({ method: text === '' ? 'HEAD' : 'GET', target, ...response });
      }
    });
    expect([...statuses]).to.include.members([200, 400, 403, 404, 405, 413, 431]);
    await expectHealthy();
    const growth = (await replica.metric('process_resident_memory_bytes')) - before;
    expect(growth).to.be.below(GROWTH_BYTES);
  });
});

/**
 * The end of a connection by the client: when it has the response to the last request, when it has sent all bytes at
 * once or in pieces, or in the middle of them.
 */
type End = 'last response' | 'half-close' | 'pieces' | 'early';

/** Sends requests over a connection, and returns all received bytes. */
function send(port: number, requests: readonly FuzzRequest[], end: End): Promise<string> {
  const bytes = Buffer.concat(requests.map((request) => request.bytes));
  const write = async (socket: Socket) => {
    if (end === 'last response') return socket.write(bytes);
    if (end === 'half-close') return socket.end(bytes);
    const size = Math.ceil(bytes.length / 7);
    const sent = end === 'early' ? bytes.length / 2 : bytes.length;
    for (let at = 0; at < sent && socket.writable; at += size) {
      socket.write(bytes.subarray(at, at + size));
      await turn();
    }
    return end === 'early' ? socket.resetAndDestroy() : socket.end();
  };
  return exchange(port, write, (received) => {
    const { length } = wholeResponsesIn(received).responses;
    // A client that honors the header closes the connection.
    const isClosing = received.includes('\r\nConnection: close\r\n') && length > 0;
    return isClosing || (end === 'last response' && length === requests.length);
  });
}

function textOf(requests: readonly FuzzRequest[]): string {
  return JSON.stringify(requests.map(({ bytes }) => bytes.toString('latin1').slice(0, 2000)));
}
