import type { Server } from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Express } from 'express';
import type { Logger } from 'pino';
import supertest from 'supertest';
import { JSON_TYPE } from '../../src/contract/headers.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { RELEASES } from '../../src/contract/releases.ts';
import { Api, type Dependencies } from '../../src/http/app.ts';
import { readConfig } from '../../src/config.ts';
import { Pins } from '../../src/http/checks/pin.ts';
import { addDocumentation } from '../../src/http/handlers/documents.ts';
import { newHitCounts } from '../../src/counts/hit-counts.ts';
import { newOpenCounts, OpenCounts } from '../../src/counts/open-counts.ts';
import { RequestMetrics } from '../../src/counts/request-metrics.ts';
import { createServer } from '../../src/http/server.ts';
import { MAX_SLOTS } from '../../src/keys/key-ring.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { expectConformance } from './conformance.ts';
import { fixture, type Fixture, type OrganizationId } from './api-fixture.ts';
import type { ListName } from '../../src/store/organization-image.ts';
import { organizationOf } from './import-folder.ts';
import { readableLog, SILENT } from './readable-log.ts';
import { close, listen } from './serve.ts';

export const NOW = Date.parse('2026-11-21T12:00:00Z');

type Method = 'get' | 'head' | 'options' | 'post' | 'put' | 'patch' | 'delete';

export interface RequestOptions {
  readonly method?: Method;
  /** The organization whose key is sent; undefined for no key. Default: `north`. */
  readonly as?: OrganizationId | 'revoked' | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The JSON of the body; undefined when the body is empty or a stream. */
  readonly body: Body;
}

/** The fields of all bodies; each body has some of them. */
export interface Body {
  readonly [field: string]: unknown;
  readonly items: readonly Record<string, unknown>[];
  readonly page: number;
  readonly perPage: number;
  readonly totalPages: number;
  readonly hasMore: boolean;
  readonly nextPage: string | null;
  readonly detail: string;
  readonly errors: readonly { readonly loc: string; readonly input: string; readonly ctx: string }[];
}

export type Overrides = Partial<Omit<Dependencies, 'config'>> & {
  readonly config?: Partial<Dependencies['config']>;
};

/** Creates the dependencies of a server with the default configuration, without operations and data. */
export function serverDependencies(log: Logger = SILENT): Dependencies {
  const counts = new OpenCounts(newOpenCounts());
  counts.limit = 1e6;
  return {
    config: readConfig({}),
    overload: () => false,
    clock: Date.now,
    stores: () => new Map(),
    keys: () => undefined,
    operations: [],
    hits: newHitCounts(MAX_SLOTS),
    noteKeyUse: () => undefined,
    pins: new Pins(newServedDigests()),
    addDocuments: () => [],
    releases: RELEASES,
    log,
    metrics: new RequestMetrics(),
    counts,
  };
}

/** Creates a server with further routes. */
export function serverWith(addRoutes: (app: Express) => void, dependencies: Dependencies): Server {
  const addDocuments = (app: Express) => {
    addRoutes(app);
    return [];
  };
  return createServer(new Api({ ...dependencies, addDocuments }), dependencies).server;
}

/** The app over the fixture, listening on its own port. */
export class TestApi {
  readonly #server: Server;
  readonly #fixture: Fixture;
  readonly port: number;
  /** The app's clock, in milliseconds since the epoch. */
  readonly clock: { now: number };
  readonly logged: readonly Record<string, unknown>[];

  private constructor(
    server: Server,
    port: number,
    made: Fixture,
    clock: { now: number },
    logged: Record<string, unknown>[],
  ) {
    this.#server = server;
    this.port = port;
    this.#fixture = made;
    this.clock = clock;
    this.logged = logged;
  }

  static async start(overrides: Overrides = {}): Promise<TestApi> {
    const made = await fixture();
    const stores = new StoreRegistry();
    stores.swap('fixture', made.image);
    const clock = { now: NOW };
    const { log, lines } = readableLog('debug');
    const defaults = serverDependencies(log);
    const config = { ...readConfig({}), rateLimitPerMinute: 0, ...overrides.config };
    const dependencies: Dependencies = {
      ...defaults,
      operations: OPERATIONS,
      stores: () => stores.view,
      keys: () => made.ring,
      clock: () => clock.now,
      addDocuments: addDocumentation,
      ...overrides,
      config,
    };
    const { server } = createServer(new Api(dependencies), dependencies);
    return new TestApi(server, await listen(server), made, clock, lines);
  }

  async stop(): Promise<void> {
    await close(this.#server);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  authorization(organization: OrganizationId | 'revoked'): string {
    return this.#fixture.authorization[organization];
  }

  /** Returns the digest that links of a list carry. */
  digest(organization: OrganizationId, list: ListName = 'tickets'): string {
    return organizationOf(this.#fixture.image, organization).lists[list].digest;
  }

  /** Sends a request, and validates the response against the OpenAPI document. */
  async send(target: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const { method = 'get', headers = {} } = options;
    const as = 'as' in options ? options.as : 'north';
    const test = supertest(this.#server)[method](target).set(headers);
    if (as !== undefined) void test.set('Authorization', this.authorization(as));
    const response = await test;
    const { status, headers: responseHeaders } = response;
    const text = response.text || ''; // superagent leaves it undefined for an empty body
    expectConformance({ method: method.toUpperCase(), target, status, headers: responseHeaders, text });
    return {
      status,
      headers: responseHeaders,
      text,
      body: (responseHeaders['content-type'] === JSON_TYPE && text !== ''
        ? JSON.parse(text)
        : undefined) as Body,
    };
  }

  /** Returns the ids of the records on the first page of a list. */
  async ids(target: string, options: RequestOptions = {}): Promise<unknown[]> {
    const { status, body } = await this.send(target, options);
    expect(status, target).to.equal(200);
    return body.items.map((item) => Object.values(item)[0]);
  }

  /** Sends raw bytes, and returns all bytes received until the connection closes. */
  async raw(request: string): Promise<string> {
    const socket = connect({ port: this.port, host: '127.0.0.1' });
    socket.end(Buffer.from(request, 'latin1'));
    return readText(socket);
  }

  /** Sends the lines of a request, which closes the connection. Returns all received bytes. */
  rawLines(...lines: readonly string[]): Promise<string> {
    return this.raw([...lines, 'Connection: close', '', ''].join('\r\n'));
  }
}

/** Provides an API for the tests of the calling suite, started before and stopped after them. */
export function givenApi(overrides?: () => Overrides): { readonly api: TestApi } {
  let api: TestApi | undefined;
  before(async () => {
    api = await TestApi.start(overrides?.());
  });
  after(() => api?.stop());
  return {
    get api() {
      if (api === undefined) throw new Error('not started yet');
      return api;
    },
  };
}
