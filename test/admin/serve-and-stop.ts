import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdminApp } from '../../src/admin/admin-app.ts';
import { pino } from 'pino';
import { OverloadCheck } from '../../src/http/checks/overload.ts';
import { emptyOperations } from '../support/admin-operations.ts';

/** A process that serves the admin app to four requests, and then ends by itself. */

const operations = emptyOperations();
new OverloadCheck({
  config: { overloadDelayMs: 100 },
  metrics: operations.metrics,
  log: pino({ level: 'silent' }),
  connections: () => 0,
  openStreams: () => 0,
});
const server = createServer(createAdminApp(operations)).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const statuses: number[] = [];
for (const path of ['livez', 'metrics', 'status', 'readyz']) {
  const response = await fetch(`http://127.0.0.1:${port}/${path}`, { headers: { Connection: 'close' } });
  await response.text();
  statuses.push(response.status);
}
server.close();
process.stdout.write(`${statuses.join(' ')}\n`);
