import { type ClientOptions, FoyerClient } from '../../client/src/foyer-client.ts';

export const CREDENTIAL = 'svc:o:north:secret';
export const SOURCE = { 'Service-Snapshot-Id': 'one', 'Service-Data-As-Of': '2026-11-21T04:00:00Z' };

/** A response, or a failure of the connection. */
export type Outcome = Response | Error;

export const refused = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ detail: 'Try again.' }, { status, headers });

/** Returns a body that ends with an error. */
export const broken = (text: string) =>
  new ReadableStream({
    pull(controller) {
      if (text === '') controller.error(new TypeError('terminated'));
      else controller.enqueue(new TextEncoder().encode(text));
      text = '';
    },
  });

/** A client whose requests have these outcomes one after the other, without waiting. */
export function clientOf(outcomes: readonly Outcome[], options: Partial<ClientOptions> = {}) {
  const requests: { url: string; headers: Headers }[] = [];
  const pauses: number[] = [];
  const client = new FoyerClient({
    baseUrl: 'https://tickets.example.org',
    credential: CREDENTIAL,
    fetch: (url, init) => {
      requests.push({ url: new Request(url).url, headers: new Headers(init?.headers) });
      const outcome = outcomes.at(requests.length - 1) ?? new Error('no outcome');
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
    },
    wait: (milliseconds) => {
      pauses.push(milliseconds);
      return Promise.resolve();
    },
    ...options,
  });
  return { client, requests, pauses };
}
