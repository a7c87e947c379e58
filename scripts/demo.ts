import { isIPv6 } from 'node:net';
import type { statusOf } from '../src/admin/status.ts';
import { misspeltVariables, readConfig } from '../src/config.ts';
import { ProcessLog } from '../src/log/process-log.ts';
import { startReplica } from '../src/replica.ts';
import { stopOnSignal } from '../src/signals.ts';
import type { Manifest } from '../src/snapshot/format/manifest.ts';
import type { RefusalReason } from '../src/snapshot/format/refused-snapshot.ts';
import { commandLine, runCommand } from './run-command.ts';
import { warn } from './terminal/print.ts';
import { Progress } from './terminal/progress.ts';
import { demoCredential } from './demo/demo-credential.ts';
import { DemoSample } from './demo/demo-sample.ts';
import { printSummary } from './demo/demo-summary.ts';

/** Defaults of the demo, which keeps its files apart from real data. */
const ENVIRONMENT = {
  HOST: '127.0.0.1',
  SNAPSHOT_DIR: 'data/demo/snapshots',
  KEYS_FILE: 'data/demo/keys.sqlite',
  EXPLORER: 'on',
  LOG_LEVEL: 'warn',
};

const program = commandLine(
  'demo',
  'Starts Foyer with sample data, created if absent, and prints addresses and requests to try. Reads the same ' +
    `environment variables as \`npm start\`; defaults: ${Object.entries(ENVIRONMENT)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}.`,
).action(demo);

process.exitCode = await runCommand(program, process.argv.slice(2));

async function demo(): Promise<void> {
  const config = readConfig({ ...ENVIRONMENT, ...process.env });
  for (const { variable, similar } of misspeltVariables())
    warn(`warning: the variable ${variable} is not known; did you mean ${similar}?`);
  const sample = new DemoSample(config.snapshotDir, ENVIRONMENT.SNAPSHOT_DIR, makeSnapshot);
  const credentialFor = ({ organizations: [{ organizationId }] }: Manifest) =>
    demoCredential(config.keysFile, ENVIRONMENT.KEYS_FILE, organizationId);
  let manifest = await sample.prepare();
  let credential = credentialFor(manifest);

  const log = new ProcessLog(config.logLevel);
  const starting = startReplica(config, log);
  stopOnSignal(starting, config, log);
  const replica = await starting;
  try {
    await replica.poll();
    const admin = `http://${reachableHost(config.adminHost)}:${replica.adminPort}`;
    const refused = await refusalOf(sample.file, admin);
    if (refused !== undefined) {
      manifest = await sample.replace(refused);
      credential = credentialFor(manifest);
      await replica.poll();
    }
    const api = `http://${reachableHost(config.host)}:${replica.port}`;
    await printSummary({
      organizations: manifest.organizations.length,
      addresses: {
        ...(config.explorer && { Explorer: `${api}/explorer#key=${credential}` }),
        ...(config.docs && { Documentation: `${api}/docs` }),
        Status: `${admin}/`,
      },
      api,
      credential,
      environment: { SNAPSHOT_DIR: config.snapshotDir, KEYS_FILE: config.keysFile },
    });
  } catch (error) {
    await replica.stop(0, 0);
    await log.end();
    throw error;
  }
}

async function makeSnapshot(path: string): Promise<void> {
  using progress = new Progress();
  progress.show('creating sample data');
  // Imported on demand, since only the first start needs it.
  const { makeDemoSnapshot } = await import('./demo/make-demo-snapshot.ts');
  await makeDemoSnapshot(path);
}

/** Returns the refusal of a file of the snapshot folder by the loader; undefined if it is live. */
async function refusalOf(
  file: string,
  admin: string,
): Promise<{ readonly reason: RefusalReason; readonly message: string } | undefined> {
  const response = await fetch(`${admin}/status`);
  const { refused } = (await response.json()) as ReturnType<typeof statusOf>;
  const refusal = refused.find((one) => one.file === file);
  return refusal && { reason: refusal.reason, message: refusal.detail };
}

/** Returns the host to connect to when the server listens on `host`. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}
