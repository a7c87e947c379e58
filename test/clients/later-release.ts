import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';

export const ADDED_FIELD = 'addedLater';

/** Headers of a connection or of a coded body, which the proxy does not repeat. */
const OF_CONNECTION = ['connection', 'content-encoding', 'content-length', 'keep-alive', 'transfer-encoding'];

/** Returns a proxy that adds a field to every object in the responses of a service, as a later release may. */
export function laterRelease(origin: string): Server {
  return createServer(({ url = '', headers }, response) => {
    void relay(origin + url, headers).then(({ status, headers, body }) =>
      response.writeHead(status, headers).end(body),
    );
  });
}

async function relay(target: string, { authorization = '', ...others }: IncomingHttpHeaders) {
  const version = String(others['service-api-version'] ?? 'stable');
  const found = await fetch(target, { headers: { authorization, 'service-api-version': version } });
  const body = await found.text();
  return {
    status: found.status,
    headers: Object.fromEntries([...found.headers].filter(([name]) => !OF_CONNECTION.includes(name))),
    // A line is JSON: the whole response, or a line of a stream.
    body: body.replaceAll(/.+/g, (line) => JSON.stringify(JSON.parse(line, extended))),
  };
}

function extended(_name: string, value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? { ...value, [ADDED_FIELD]: { a: [1] } } : value;
}
