import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Answer } from '../support/replica-under-test.ts';

interface ClientOptions {
  readonly port: number;
  /** Name of the server, in its certificate. */
  readonly host: string;
  /** Address of the client, in 127.0.0.0/8. */
  readonly address: string;
  readonly certificate: string;
}

/** A client of a proxy, by HTTP/1.1 and HTTP/2 over TLS. */
export class FleetClient {
  /** Requests of `persist` that were sent again after a broken connection, and after `Retry-After`. */
  readonly repeats = { broken: 0, later: 0 };
  readonly #tls;
  readonly #agent: Agent;

  constructor({ host: servername, certificate: ca, address: localAddress, port }: ClientOptions) {
    this.#tls = { host: '127.0.0.1', servername, ca, localAddress, port };
    this.#agent = new Agent({ ...this.#tls, keepAlive: true, maxSockets: 20 });
  }

  /** Sends a request by HTTP/1.1. A path may be a link to the next page. */
  async get(path: string, credential = '', headers: OutgoingHttpHeaders = {}): Promise<Answer> {
    const response = await this.open(path, credential, headers);
    return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
  }

  /** Sends a request by HTTP/1.1, and returns the response, whose body is not read yet. */
  async open(
    path: string,
    credential = '',
    headers: OutgoingHttpHeaders = {},
    agent = this.#agent,
  ): Promise<IncomingMessage> {
    const sent = request({
      ...this.#tls,
      agent,
      path: path.replace(/^https:\/\/[^/]+/, ''),
      headers: { Host: this.#tls.servername, ...authorization(credential), ...headers },
    });
    // Also of a response that breaks off, whose reader sees it.
    sent.on('error', () => undefined).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }

  /**
   * Sends a request until it has an answer: again after `Retry-After`, and at once when the connection breaks. More than
   * `attempts` are a failure.
   */
  async persist(path: string, credential: string, attempts = 40): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.get(path, credential).catch((error: unknown) => {
        if (attempt === attempts) throw error;
      });
      if (answer === undefined) {
        this.repeats.broken++;
        continue;
      }
      const later = answer.headers['retry-after'];
      if (later === undefined || attempt === attempts) return answer;
      this.repeats.later++;
      await delay(Number(later) * 1000);
    }
  }

  /** Opens a connection, of HTTP/2 if the proxy has it. */
  async http2(): Promise<ClientHttp2Session | undefined> {
    const socket = connectTls({ ...this.#tls, ALPNProtocols: ['h2', 'http/1.1'] });
    await once(socket, 'secureConnect');
    if (socket.alpnProtocol === 'h2')
      return connectHttp2(`https://${this.#tls.servername}`, { createConnection: () => socket });
    socket.destroy();
    return undefined;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Sends a request on a connection of HTTP/2. Rejects when the response is incomplete. */
export async function getByHttp2(
  session: ClientHttp2Session,
  path: string,
  credential = '',
  headers: OutgoingHttpHeaders = {},
) {
  const stream = session.request({ ':path': path, ...authorization(credential), ...headers });
  stream.end();
  const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
  return { status: head[':status'], headers: head, text: await text(stream) };
}

function authorization(credential: string): OutgoingHttpHeaders {
  return credential === '' ? {} : { Authorization: `Bearer ${credential}` };
}
