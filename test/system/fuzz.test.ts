import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { expectConformance } from '../support/conformance.ts';
import { byDepth } from '../support/depth.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { type RawResponse, responsesIn } from '../support/raw-responses.ts';
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
    mkdirSync(inFolder('snapshots'));
    writeImport(inFolder('import'), SMALL_IMPORT);
    await build(inFolder('import'), join(inFolder('snapshots'), 'small.sqlite'));
    const keys = ['north', 'south'].map((id) => `Bearer ${newCredential(inFolder, id)}`);
    authorizations = [...keys, ...keys, ...keys, 'Bearer svc:o:north:none', 'Bearer svc:o:', 'none'];
    replica = await ReplicaUnderTest.start(inFolder, { THREADS: '2', REFUSALS_PER_MINUTE: '0' });
    await replica.waitForLog({ msg: 'snapshot live' });
  });
  after(() => replica.end());

  /**
   * Handles `CONNECTIONS` connections, `CONCURRENT` at a time. Repeats slow ones alone, on the idle replica: requests that
   * are slow each time fail.
   */
  async function forEachConnection(
    handle: (random: Random, exchange: typeof send) => Promise<void>,
  ): Promise<void> {
    const slow: Parameters<typeof send>[] = [];
    const exchange = async (...given: Parameters<typeof send>) => {
      const start = performance.now();
      const responses = await send(...given);
      if (performance.now() - start > SLOW_MS) slow.push(given);
      return responses;
    };
    let next = 0;
    const handleInTurn = async () => {
      for (let i = next++; i < CONNECTIONS; i = next++) {
        await handle(new Random(SEED + i), exchange).catch((error: unknown) => {
          throw new Error(`connection ${i}: ${String(error)}`, { cause: error });
        });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, handleInTurn));
    for (const given of slow) {
      let fastest = Infinity;
      for (let i = 0; i < TRIES; i++) {
        const start = performance.now();
        await send(...given);
        fastest = Math.min(fastest, performance.now() - start);
      }
      expect(fastest, textOf(given[1])).to.be.below(SLOW_MS);
    }
  }

  async function residentBytes(): Promise<number> {
    const { text } = await replica.requestAdmin('/status');
    return Number(/"residentBytes":(\d+)/.exec(text)?.[1]);
  }

  async function expectHealthy(): Promise<void> {
    expect(replica.isRunning).to.equal(true);
    const { status } = await replica.request('/v1/tickets', authorizations[0].replace('Bearer ', ''));
    expect(status).to.equal(200);
    const warnings = replica.log.filter(({ level }) => Number(level) > 30);
    // Refusals without a log line of their own have a summary.
    expect(warnings.filter(({ network }) => network === undefined)).to.deep.equal([]);
  }

  it('answers each well-formed request of a pipeline as the OpenAPI document says', async () => {
    const statuses = new Set<number>();
    await forEachConnection(async (random, exchange) => {
      const requests = Array.from({ length: random.between(1, 4) }, () =>
        wellFormedRequest(random, authorizations),
      );
      const responses = await exchange(replica.port, requests, 'last response');
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
    const before = await residentBytes();
    const statuses = new Set<number>();
    await forEachConnection(async (random, exchange) => {
      const requests = Array.from({ length: random.between(1, 4) }, () =>
        random.chance(0.8)
          ? malformedRequest(random, authorizations)
          : wellFormedRequest(random, authorizations),
      );
      const end = random.chance(0.1) ? 'early' : random.chance(0.3) ? 'pieces' : 'half-close';
      for (const response of await exchange(replica.port, requests, end)) {
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
    expect((await residentBytes()) - before).to.be.below(GROWTH_BYTES);
  });
});

/**
 * The end of a connection by the client: when it has the response to the last request, when it has sent all bytes at
 * once or in pieces, or in the middle of them.
 */
type End = 'last response' | 'half-close' | 'pieces' | 'early';

/** Sends requests over a connection, and returns all responses. */
async function send(port: number, requests: readonly FuzzRequest[], end: End): Promise<RawResponse[]> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  const closed = new Promise((resolve) => socket.on('close', resolve));
  // The server resets a connection that it closes before it has read all.
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    // A client that honors the header closes the connection.
    if (received.includes('\r\nConnection: close\r\n') && isComplete(received)) socket.destroy();
    else if (end === 'last response' && isComplete(received, requests.length)) socket.destroy();
  });
  socket.on('end', () => socket.destroy());
  const bytes = Buffer.concat(requests.map((request) => request.bytes));
  if (end === 'last response') socket.write(bytes);
  if (end === 'half-close') socket.end(bytes);
  if (end === 'pieces' || end === 'early') {
    const size = Math.ceil(bytes.length / 7);
    const sent = end === 'early' ? bytes.length / 2 : bytes.length;
    for (let at = 0; at < sent && socket.writable; at += size) {
      socket.write(bytes.subarray(at, at + size));
      await turn();
    }
    if (end === 'early') socket.resetAndDestroy();
    else socket.end();
  }
  await closed;
  return responsesIn(received);
}

function isComplete(received: string, count = 1): boolean {
  try {
    return responsesIn(received).length >= count;
  } catch {
    return false;
  }
}

function textOf(requests: readonly FuzzRequest[]): string {
  return JSON.stringify(requests.map(({ bytes }) => bytes.toString('latin1').slice(0, 2000)));
}
