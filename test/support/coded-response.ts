import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** A response whose body is as it was received. */
export interface CodedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** Sends a request without any header of its own, and does not decode the body. */
export async function requestCoded(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
): Promise<CodedResponse> {
  return await new Promise((resolve, reject) => {
    const request = get(url, { method, headers, agent: false }, (response) => {
      const { statusCode: status = 0, headers: received } = response;
      buffer(response).then((body) => {
        resolve({ status, headers: received as CodedResponse['headers'], body });
      }, reject);
    });
    request.once('error', reject);
  });
}

/** Returns the body of a response without its content coding. */
export function decoded({ headers, body }: Pick<CodedResponse, 'headers' | 'body'>): Buffer {
  const { 'content-encoding': coding } = headers;
  if (coding === undefined) return body;
  if (coding === 'gzip') return gunzipSync(body);
  if (coding === 'zstd') return zstdDecompressSync(body);
  throw new Error(`unknown content coding ${coding}`);
}
