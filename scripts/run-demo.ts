import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { misspeltVariables, readConfig } from '../src/config.ts';
import { PREVIEW, VERSION_HEADER } from '../src/contract/releases.ts';
import { formatCredential, parseCredential } from '../src/keys/credential.ts';
import { KeysFile, readKeyRing } from '../src/keys/keys-file.ts';
import { ProcessLog } from '../src/log/process-log.ts';
import { portInUse, startReplica } from '../src/replica.ts';
import { stopOnSignal } from '../src/signals.ts';
import type { Manifest } from '../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../src/snapshot/load/read-snapshot.ts';
import { runCommand } from './run-command.ts';

/** Defaults of the demo, which keeps its files apart from real data. */
const ENVIRONMENT = {
  HOST: '127.0.0.1',
  SNAPSHOT_DIR: 'data/demo/snapshots',
  KEYS_FILE: 'data/demo/keys.sqlite',
  LOG_LEVEL: 'warn',
};

const program = new Command('demo')
  .description(
    'Starts Foyer with sample data, created if absent, and prints requests to try. Reads the same\n' +
      `environment variables as \`npm start\`; defaults: ${Object.entries(ENVIRONMENT)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ')}.`,
  )
  .action(demo);

process.exitCode = await runCommand(program, process.argv.slice(2));

async function demo(): Promise<void> {
  const config = readConfig({ ...ENVIRONMENT, ...process.env });
  for (const { variable, similar } of misspeltVariables())
    console.error(`warning: the variable ${variable} is not known; did you mean ${similar}?`);
  const snapshot = join(config.snapshotDir, 'demo.sqlite');
  const { organizations } = inspectSample(snapshot) ?? (await makeSample(snapshot));
  const [{ organizationId, name }] = organizations;
  const credential = demoCredential(config.keysFile, organizationId);

  const log = new ProcessLog(config.logLevel);
  const starting = startReplica(config, log);
  stopOnSignal(starting, config.shutdownGraceSeconds, log);
  const replica = await starting.catch((error: unknown) => {
    throw portInUse(error, config, 'npm run demo') ?? error;
  });
  await replica.poll();

  const address = `http://${reachableHost(config.host)}:${replica.port}`;
  console.log(`Foyer serves the sample data of ${organizations.length} organizations.\n`);
  console.log(`Address: ${address}`);
  console.log(`Key:     ${credential}   (${name})`);
  console.log(`API:     ${address}/openapi.json`);
  console.log(`Status:  http://${reachableHost(config.adminHost)}:${replica.adminPort}/status\n`);
  for (const { title, line } of await exampleCommands(address, credential))
    console.log(`# ${title}\n${line}\n`);
  const environment = `SNAPSHOT_DIR=${quoted(config.snapshotDir)} KEYS_FILE=${quoted(config.keysFile)}`;
  console.log('# the environment with which other commands use this data, such as npm run keys -- list');
  console.log(`export ${environment}\n`);
  console.log('Press Ctrl-C to stop.');
}

/** Returns the host to connect to when the server listens on `host`. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}

/** Returns the manifest of the snapshot; undefined if there is none or its format is of another version. */
function inspectSample(snapshot: string): Manifest | undefined {
  if (!existsSync(snapshot)) return undefined;
  try {
    return inspectSnapshot(snapshot);
  } catch (error) {
    if (error instanceof RefusedSnapshot && error.reason === 'other-version') return undefined;
    throw error;
  }
}

async function makeSample(snapshot: string): Promise<Manifest> {
  // Imported on demand, since only the first start needs it.
  const { makeDemoSnapshot } = await import('./make-demo-snapshot.ts');
  await makeDemoSnapshot(snapshot);
  return inspectSnapshot(snapshot);
}

/** Returns the credential of an earlier run if it is still valid, else a new one, and stores it beside the keys. */
function demoCredential(keysFile: string, organizationId: string): string {
  const file = `${keysFile}.demo-credential`;
  if (existsSync(file) && existsSync(keysFile)) {
    const text = readFileSync(file, 'utf8').trim();
    const credential = parseCredential(`Bearer ${text}`);
    const isValid =
      credential?.organizationId === organizationId &&
      readKeyRing(keysFile).check(organizationId, credential.secret, Date.now()).outcome === 'valid';
    if (isValid) return text;
  }
  mkdirSync(dirname(keysFile), { recursive: true });
  const credential = formatCredential(new KeysFile(keysFile).create(organizationId, 'demo', new Date()));
  writeFileSync(file, `${credential}\n`, { mode: 0o600 });
  return credential;
}

interface ListBody {
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** Returns shell commands with ids from the sample data. */
async function exampleCommands(
  address: string,
  credential: string,
): Promise<{ title: string; line: string }[]> {
  const headers = { Authorization: `Bearer ${credential}` };
  const first = async (path: string) => {
    const response = await fetch(`${address}${path}`, { headers });
    const { items } = (await response.json()) as ListBody;
    return items[0];
  };
  const ticket = await first('/v1/tickets?perPage=1');
  const ticketPath = `/v1/tickets/${encodeURIComponent(String(ticket['ticketId']))}`;
  const etag = (await fetch(`${address}${ticketPath}`, { headers })).headers.get('etag') ?? '';
  const eventId = encodeURIComponent(String(ticket['eventId']));
  const updatedAt = encodeURIComponent(String((await first('/v1/orders?perPage=1'))['updatedAt']));

  const curl = (path: string, ...options: string[]) =>
    [
      'curl',
      '-s',
      ...options,
      '-H',
      quoted(`Authorization: Bearer ${credential}`),
      quoted(address + path),
    ].join(' ');
  const preview = ['-H', quoted(`${VERSION_HEADER}: ${PREVIEW}`)];
  return [
    { title: 'a page of events', line: curl('/v1/events?perPage=5') },
    { title: 'a filter: the tickets of an event', line: curl(`/v1/tickets?eventIds=${eventId}&perPage=2`) },
    {
      title: 'a filter: the orders updated since a time',
      line: curl(`/v1/orders?updatedAt.gte=${updatedAt}&perPage=2`),
    },
    { title: 'a record', line: curl(ticketPath) },
    { title: 'a page beyond the last: 204', line: curl('/v1/events?page=1000', '-i') },
    { title: 'two mistakes: 400 with both', line: curl('/v1/orders?status=SOLD&perPage=1000') },
    { title: 'the catalog, in preview', line: curl(`/v1/catalog/offers?eventId=${eventId}`, ...preview) },
    {
      title: 'an unchanged ticket: 304',
      line: curl(ticketPath, '-i', '-H', quoted(`If-None-Match: ${etag}`)),
    },
  ];
}

/** Quotes a text for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
