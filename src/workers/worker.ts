import type { ListenOptions } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { OPERATIONS } from '../contract/operations.ts';
import { RELEASES } from '../contract/releases.ts';
import { Api } from '../http/app.ts';
import { overloadCheck } from '../http/checks/overload.ts';
import { Pins } from '../http/checks/pin.ts';
import { Listener } from '../http/connections/listener.ts';
import { addDocumentation } from '../http/handlers/documents.ts';
import { CONNECTIONS, OpenCounts, STREAMS } from '../counts/open-counts.ts';
import { RequestMetrics } from '../counts/request-metrics.ts';
import { createServer } from '../http/server.ts';
import { KeyRing, noteKeyUse } from '../keys/key-ring.ts';
import { createLogger, LogRing } from '../log/log-ring.ts';
import type { Command, NumberedCommand, Outcome, Reply, WorkerData } from './protocol.ts';
import { WorkerStores } from './shared-views.ts';

/** Program of a worker: a thread that answers requests and executes commands of the supervisor. */

if (parentPort === null) throw new Error('the program of a worker runs in a thread only');
const supervisor = parentPort;
const { config, ...memory } = workerData as WorkerData;
const log = createLogger(config.logLevel, new LogRing(memory.logRing));
const metrics = new RequestMetrics(memory.metrics);
metrics.sampleDelay();
const counts = new OpenCounts(memory.counts, memory.countsPart);
const stores = new WorkerStores(memory.shownVersion);
let keys: KeyRing | undefined;
const dependencies = {
  config,
  stores: () => stores.view,
  keys: () => keys,
  overload: overloadCheck({
    config,
    connections: () => counts.inThis(CONNECTIONS),
    openStreams: () => counts.inThis(STREAMS),
  }),
  clock: Date.now,
  operations: OPERATIONS,
  metrics,
  hits: memory.hits,
  pins: new Pins(memory.servedDigests),
  counts,
  noteKeyUse: (slot: number, now: number) => {
    noteKeyUse(memory.lastUses, slot, now);
  },
  log,
  releases: RELEASES,
  addDocuments: addDocumentation,
};
const api = new Api(dependencies);
const { server, connections } = createServer(api, dependencies);
const listener = new Listener(server, connections);

supervisor.on('message', ({ number, command }: NumberedCommand) => {
  void execute(command).then((outcome) => {
    supervisor.postMessage({ number, outcome } satisfies Reply);
  });
});
supervisor.postMessage({ number: 0, outcome: {} } satisfies Reply);

async function execute(command: Command): Promise<Outcome> {
  switch (command.name) {
    case 'add-images':
      for (const image of command.images) stores.add(image);
      return {};
    case 'prepare-view':
      stores.prepare(command.view);
      return {};
    case 'drop-earlier-view':
      stores.dropEarlier(command.bytesFreed);
      api.endReleasedStreams();
      return {};
    case 'replace-keys':
      keys = new KeyRing(command.rows, command.slots);
      return {};
    case 'listen':
      return await listen(command.options);
    case 'drain':
      await listener.drain(delay(command.delaySeconds * 1000), command.graceSeconds);
      process.exit();
  }
}

async function listen(options: ListenOptions): Promise<Outcome> {
  try {
    return { port: await listener.listen(options) };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    const { message, code, syscall } = error;
    return { failure: { message, code, syscall } };
  }
}
