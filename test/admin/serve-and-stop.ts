import { createServer } from 'node:http';
import { createAdminApp } from '../../src/admin/admin-app.ts';
import { OverloadCheck } from '../../src/http/checks/overload.ts';
import { emptyOperations } from '../support/admin-operations.ts';
import { SILENT } from '../support/readable-log.ts';
import { listen } from '../support/serve.ts';

/** A process that serves the admin app to four requests, and then ends by itself. */

const operations = emptyOperations();
new OverloadCheck({
  config: { overloadDelayMs: 100 },
  metrics: operations.metrics,
  log: SILENT,
  connections: () => 0,
  openStreams: () => 0,
});
const server = createServer(createAdminApp(operations));
const port = await listen(server);
const statuses: number[] = [];
for (const path of ['livez', 'metrics', 'status', 'readyz']) {
  const response = await fetch(`http://127.0.0.1:${port}/${path}`, { headers: { Connection: 'close' } });
  await response.text();
  statuses.push(response.status);
}
server.close();
process.stdout.write(`${statuses.join(' ')}\n`);
