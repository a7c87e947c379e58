import type { ListenOptions } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import { OPERATIONS } from '../contract/operations.ts';
import { RELEASES } from '../contract/releases.ts';
import { createApi, type Dependencies } from '../http/app.ts';
import { OverloadCheck } from '../http/checks/overload.ts';
import { Pins } from '../http/checks/pin.ts';
import { RefusalBudget } from '../http/checks/refusal-budget.ts';
import { Listener, prepareDrain } from '../http/connections/drain.ts';
import { Networks } from '../counts/networks.ts';
import { addDocumentation, type DocumentationDependencies } from '../http/handlers/documents.ts';
import { OpenCounts, STREAMS } from '../counts/open-counts.ts';
import { RequestMetrics } from '../counts/request-metrics.ts';
import { createServer, type ServerDependencies } from '../http/server.ts';
import { KeyRing, noteKeyUse } from '../keys/key-ring.ts';
import { LogRing } from '../log/log-ring.ts';
import { createLogger } from '../log/logger.ts';
import type { Command, NumberedCommand, Outcome, Reply, WorkerMemory } from './protocol.ts';
import { WorkerStores } from './shared-views.ts';

/** Program of a worker: a thread that answers requests and executes commands of the supervisor. */

export interface WorkerInput {
  readonly config: Config;
  readonly memory: WorkerMemory;
}

if (parentPort === null) throw new Error('the program of a worker runs in a thread only');
const supervisor = parentPort;
const { config, memory } = workerData as WorkerInput;
const log = createLogger(config.logLevel, new LogRing(memory.logRing));
const metrics = new RequestMetrics(memory.metrics);
const stores = new WorkerStores(memory.shownVersion);
let keys: KeyRing | undefined;

const networks = new Networks(memory.networks, memory.networksPart);
const counts = new OpenCounts(memory.counts, memory.countsPart);
const refusals = new RefusalBudget(config.refusalsPerMinute, networks, log);

const dependencies: Dependencies & ServerDependencies & DocumentationDependencies = {
  config,
  stores: () => stores.view,
  keys: () => keys,
  overload: (isExempt) => overloadCheck.refuses(isExempt),
  clock: Date.now,
  operations: OPERATIONS,
  releases: RELEASES,
  metrics,
  hits: memory.hits,
  refusals,
  pins: new Pins(memory.servedDigests),
  networks,
  counts,
  noteUse: (slot, now) => {
    noteKeyUse(memory.lastUses, slot, now);
  },
  addDocuments: (app, compression) => addDocumentation(app, dependencies, compression),
  log,
};
const api = createApi(dependencies);
const { server, connections } = createServer(api, dependencies);
const listener = new Listener(server);
const drain = prepareDrain(server, listener, memory.drain, connections);
// The check starts after the creation of the app, which blocks the event loop when no request waits yet.
const overloadCheck = new OverloadCheck({
  config,
  metrics,
  log,
  connections: () => connections.open.size,
  openStreams: () => counts.inThis(STREAMS),
});
let drainSteps: ReturnType<typeof drain> | undefined;

supervisor.on('message', ({ number, command }: NumberedCommand) => {
  void execute(command).then((outcome) => {
    reply({ number, outcome });
  });
});
reply({ number: 0, outcome: {} });

function reply(message: Reply): void {
  supervisor.postMessage(message);
}

async function execute(command: Command): Promise<Outcome> {
  switch (command.name) {
    case 'add-image':
      stores.add(command.image);
      return {};
    case 'prepare-view':
      stores.prepare(command.view);
      return {};
    case 'drop-unused-images':
      stores.dropUnused();
      api.endReleasedStreams();
      return {};
    case 'replace-keys':
      keys = new KeyRing(command.rows, command.slots);
      return {};
    case 'listen':
      return await listen(command.options);
    case 'drain': {
      drainSteps ??= drain(command.graceSeconds, command.isUrgent);
      const { done } = await drainSteps.next();
      if (done !== true) return {};
      refusals.logSummaries();
      process.exit();
    }
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
