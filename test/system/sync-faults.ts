import type { ServerResponse } from 'node:http';

/** Ends a response as a proxy may do: without a length, and without chunks. */
function endEarly(response: ServerResponse, part: Buffer): void {
  response.useChunkedEncodingByDefault = false;
  response.shouldKeepAlive = false;
  response.end(part);
}

/** More than the pause that programs make without Retry-After. */
export const RETRY_SECONDS = 2;

/** What the first response of a round is, in place of the whole one. `part` is the beginning of its body. */
export const FAULTS = {
  '429': (response) => response.writeHead(429, { 'Retry-After': RETRY_SECONDS }).end(),
  '429 without Retry-After': (response) => response.writeHead(429).end('<html>'),
  reset: (response, part) => response.write(part, () => response.destroy()),
  'cut within a line': endEarly,
  'cut after a line': (response, part) => {
    endEarly(response, part.subarray(0, part.lastIndexOf('\n') + 1));
  },
  'late, and the program is killed': (response, part) => response.write(part),
} as const satisfies Record<string, (response: ServerResponse, part: Buffer) => unknown>;

export type Fault = keyof typeof FAULTS;
