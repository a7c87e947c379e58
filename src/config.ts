import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { distance } from 'fastest-levenshtein';
import { compile } from 'proxy-addr';

interface Kind<T> {
  /** Parses the text of a variable. Returns undefined for an invalid text. */
  readonly read: (text: string) => T | undefined;
  /** Completes the sentence "it …" in an error message. */
  readonly rule: string;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const PORT = wholeNumber(0, 65_535);
const HOST = {
  rule: 'must be an IP address or a host name, such as 0.0.0.0, :: or localhost',
  read: readHost,
};
/** The counts in shared memory end a little above the greatest limit. */
const LIMIT_PER_MINUTE = wholeNumber(0, 16_000_000);
const SWITCH = {
  rule: 'must be on or off',
  read: (text: string) => (text === 'on' ? true : text === 'off' ? false : undefined),
};
const PATH = { rule: 'must be a path', read: (text: string) => text };

export const CONFIG_VARIABLES = {
  PORT: variable(PORT, '3000', 'port of the API; 0 selects a free one'),
  HOST: variable(HOST, '0.0.0.0', 'address on which the API listens'),
  ADMIN_PORT: variable(PORT, '3001', 'port for health, metrics and status; 0 selects a free one'),
  ADMIN_HOST: variable(
    HOST,
    '127.0.0.1',
    'address on which the admin port listens; requests to it need no key',
  ),
  SNAPSHOT_DIR: variable(PATH, 'data/snapshots', 'folder of the snapshot files'),
  KEYS_FILE: variable(PATH, 'data/keys.sqlite', 'file of the API keys, created by `npm run keys`'),
  PUBLIC_BASE_URL: variable(
    { rule: 'must be an http or https URL without credentials, query or fragment', read: readBaseUrl },
    undefined,
    'base URL of links in responses, such as https://tickets.example.org; default: the address of the request',
  ),
  TRUST_PROXY: variable(
    {
      rule: 'must be true, false, a number of proxies, or a comma-separated list of addresses, subnets (such as 10.0.0.0/8) and the names loopback, linklocal, uniquelocal',
      read: readTrust,
    },
    'false',
    "proxies whose X-Forwarded headers are trusted: Express's `trust proxy`",
  ),
  CORS_ORIGINS: variable(
    {
      rule: 'must be *, or a comma-separated list of origins without a path, such as https://app.example.org or http://localhost:5173',
      read: readOrigins,
    },
    undefined,
    'origins whose scripts may read responses in a browser, comma-separated, or * for all; default: none',
  ),
  RATE_LIMIT_PER_MINUTE: variable(
    LIMIT_PER_MINUTE,
    '600',
    'requests per minute for each key, at each process: N replicas allow N times as many; 0 disables the limit',
  ),
  REFUSALS_PER_MINUTE: variable(
    LIMIT_PER_MINUTE,
    '3000',
    'requests without a valid key, per minute, client address and thread; further ones get 429; 0 disables the limit',
  ),
  MAX_CONNECTIONS: variable(
    wholeNumber(1, 1e6),
    '10000',
    'maximum of open connections; lower when the system allows fewer open files',
  ),
  MAX_UNSENT_MB: variable(
    wholeNumber(1, 1e6),
    '256',
    'memory for responses that clients have not read yet, in megabytes of 2^20 bytes; beyond it, the slowest connections are closed',
  ),
  WRITE_TIMEOUT_SECONDS: variable(
    seconds(1, 3600),
    '30',
    'time after which a connection without progress, such as one whose client does not read, is closed, in seconds',
  ),
  OVERLOAD_DELAY_MS: variable(
    wholeNumber(0, 60_000),
    '200',
    'time that requests may wait under overload, in milliseconds; above it, some of them are refused with 429; 0 disables the check',
  ),
  COMPRESSION: variable(
    SWITCH,
    'on',
    'whether responses are compressed for clients that accept gzip or zstd; off for a proxy that compresses',
  ),
  DOCS: variable(
    SWITCH,
    'on',
    'whether the API port serves the documentation: the pages /docs and /docs/guide, the OpenAPI document, and their addresses at /',
  ),
  EXPLORER: variable(
    SWITCH,
    'off',
    'whether the API port serves the explorer, the page /explorer, and redirects browsers there from /; needs DOCS',
  ),
  SNAPSHOT_POLL_SECONDS: variable(
    seconds(0.05, 86_400),
    '2',
    'poll interval for new snapshots and changed keys, in seconds',
  ),
  SNAPSHOT_RETAIN_SECONDS: variable(
    seconds(0, 604_800),
    '300',
    'time for which a replaced snapshot serves clients that are reading its pages, since their last page, in seconds',
  ),
  SNAPSHOT_RETAIN_MAX_SECONDS: variable(
    seconds(0, 604_800),
    '3600',
    'maximum time for which a replaced snapshot serves such clients, in seconds',
  ),
  SNAPSHOT_RETAIN_UNWALKED_SECONDS: variable(
    seconds(0, 604_800),
    '0',
    'time for which a replaced snapshot stays without such clients, in seconds; in a fleet, those of a replica that fails go on at another',
  ),
  CHANGES_WAIT_SECONDS: variable(
    seconds(0, 604_800),
    '600',
    'time for which a token of /v1/changes that is newer than the loaded snapshot gets 429, in seconds; afterwards the response has all records',
  ),
  LOAD_TIMEOUT_SECONDS: variable(
    seconds(1, 86_400),
    '600',
    'maximum duration of the load of a snapshot, in seconds; the live snapshot stays when it is exceeded',
  ),
  MAX_SNAPSHOT_AGE_SECONDS: variable(
    seconds(1, 31_536_000),
    undefined,
    'age of a live snapshot above which the process reports that it is not ready, in seconds; default: no limit',
  ),
  MEMORY_LIMIT_MB: variable(
    wholeNumber(256, 1e9),
    undefined,
    'memory that the process may use, in megabytes of 2^20 bytes; a snapshot that does not fit is refused; default: the memory of the cgroup or machine',
  ),
  SHUTDOWN_DELAY_SECONDS: variable(
    seconds(0, 3600),
    '3',
    'time after SIGTERM for which the port accepts connections, until proxies have noticed that /readyz is 503, in seconds',
  ),
  SHUTDOWN_GRACE_SECONDS: variable(
    seconds(0, 3600),
    '10',
    'time after that for requests in progress to finish, in seconds',
  ),
  THREADS: variable(
    {
      rule: 'must be auto or a whole number from 1 to 256; 1 where threads cannot share a port (macOS)',
      read: readThreads,
    },
    'auto',
    'threads that answer requests; they share one copy of the data; auto: one for each processor but one, from 1 to 8; 1 where threads cannot share a port (macOS)',
  ),
  LOG_LEVEL: variable(
    {
      rule: `must be one of ${LOG_LEVELS.join(', ')}`,
      read: (text) => LOG_LEVELS.find((level) => level === text),
    },
    'info',
    'minimum log level',
  ),
};

type Variables = typeof CONFIG_VARIABLES;
type Name = keyof Variables;

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>;
type Value<V> = V extends { read: (text: string) => infer T; default: infer Default }
  ? Exclude<T, undefined> | (Default extends string ? never : undefined)
  : never;

/** The values of all variables, by name in camel case: `PUBLIC_BASE_URL` is `publicBaseUrl`. */
export type Config = { readonly [N in Name as CamelCase<N>]: Value<Variables[N]> };

/** The mistakes of a command line or an environment. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/**
 * Reads the configuration from the environment. An empty variable counts as absent; unknown variables are ignored.
 * @throws WrongUsage that lists every invalid variable
 */
export function readConfig(environment = process.env): Config {
  const mistakes: string[] = [];
  const refuse = (name: string, value: string, rule: string) => {
    mistakes.push(`\n  ${name} is ${JSON.stringify(value)}: it ${rule}`);
  };
  const values = new Map<string, unknown>();
  for (const [name, variable] of Object.entries(CONFIG_VARIABLES)) {
    const given = environment[name];
    const text = given === undefined || given === '' ? variable.default : given;
    const value = text === undefined ? undefined : variable.read(text);
    if (text !== undefined && value === undefined) refuse(name, text, variable.rule);
    const property = name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    values.set(property, value);
  }
  const adminPort = values.get('adminPort');
  if (typeof adminPort === 'number' && adminPort > 0 && adminPort === values.get('port'))
    refuse('ADMIN_PORT', String(adminPort), 'must differ from PORT');
  if (values.get('explorer') === true && values.get('docs') === false)
    refuse('EXPLORER', 'on', 'must be off when DOCS is off, since the explorer reads the OpenAPI document');
  if (mistakes.length > 0) throw new WrongUsage(`Invalid environment:${mistakes.join('')}`);
  // Both the values and the type Config derive from CONFIG_VARIABLES.
  return Object.freeze(Object.fromEntries(values)) as Config;
}

/** Returns the variables of the environment that are not read, each with the known one that it resembles. */
export function misspeltVariables(environment = process.env) {
  const known = Object.keys(CONFIG_VARIABLES);
  return Object.keys(environment).flatMap((variable) => {
    const edits = (name: string) => distance(variable.toUpperCase(), name);
    const similar = known.filter((name) => resembles(variable, name)).sort((a, b) => edits(a) - edits(b));
    return known.includes(variable) || similar.length === 0 ? [] : [{ variable, similar: similar[0] }];
  });
}

/** Other programs have variables with short or similar names, such as `PORT0`, `HOSTNAME` and `DB_HOST`. */
function resembles(variable: string, known: string): boolean {
  const mistakes = known.length < 6 ? 0 : known.length < 10 ? 1 : 2;
  const beginning = known.slice(0, 10);
  return (
    (beginning.length === 10 && variable.startsWith(beginning)) ||
    distance(variable.toUpperCase(), known) <= mistakes
  );
}

function variable<T, Default extends string | undefined>(
  kind: Kind<T>,
  defaultText: Default,
  description: string,
) {
  return { ...kind, default: defaultText, description };
}

function wholeNumber(min: number, max: number): Kind<number> {
  const rule = `must be a whole number from ${min} to ${max}`;
  return { rule, read: (text) => readNumber(text, /^\d+$/, min, max) };
}

function seconds(min: number, max: number): Kind<number> {
  const rule = `must be a number of seconds from ${min} to ${max}, such as 2 or 0.5`;
  return { rule, read: (text) => readNumber(text, /^\d+(\.\d+)?$/, min, max) };
}

/** The systems on which threads can share a port (https://nodejs.org/api/net.html#serverlistenoptions-callback). */
const SYSTEMS_WITH_SHARED_PORTS: readonly string[] = ['linux', 'freebsd', 'sunos', 'aix'];
const MAX_AUTOMATIC_THREADS = 8;

export function canSharePort(): boolean {
  return SYSTEMS_WITH_SHARED_PORTS.includes(process.platform);
}

function readThreads(text: string): number | undefined {
  const max = canSharePort() ? 256 : 1;
  if (text !== 'auto') return readNumber(text, /^\d+$/, 1, max);
  return Math.min(Math.max(1, availableParallelism() - 1), MAX_AUTOMATIC_THREADS, max);
}

/** Parses a number of the given form. `Number` alone accepts 1e3, 0x10 and spaces. */
function readNumber(text: string, form: RegExp, min: number, max: number): number | undefined {
  const value = form.test(text) ? Number(text) : NaN;
  return value >= min && value <= max ? value : undefined;
}

const isLoopbackAddress = compile('loopback');

/** Returns whether an address or name, in any spelling, is that of the machine itself. */
export function isLoopback(host: string): boolean {
  return isIP(host) === 0 ? host.toLowerCase() === 'localhost' : isLoopbackAddress(host, 0);
}

function readHost(text: string): string | undefined {
  const isName = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) && !/^[\d.]+$/.test(text);
  return isName || isIP(text) > 0 ? text : undefined;
}

/** Returns the URL without trailing slashes, so that a path can be appended. */
function readBaseUrl(text: string): string | undefined {
  // The URL parser would accept and repair other forms.
  if (!/^https?:\/\/[^\s\\?#]+$/i.test(text)) return undefined;
  const url = URL.parse(text);
  return url?.username === '' && url.password === '' ? url.href.replace(/(?<!\/)\/+$/, '') : undefined;
}

/** Returns the origins in the form that browsers send. */
function readOrigins(text: string): readonly string[] | '*' | undefined {
  if (text === '*') return text;
  const origins = text.split(',').map((origin) => readOrigin(origin.trim()));
  return origins.every((origin) => origin !== undefined) ? Object.freeze(origins) : undefined;
}

/** Accepts any scheme: apps on phones have their own. A wildcard within a host would never match. */
function readOrigin(text: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/\\?#@*]+$/i.test(text)) return undefined;
  const url = URL.parse(text);
  return url === null ? undefined : `${url.protocol}//${url.host}`;
}

function readTrust(text: string): boolean | number | readonly string[] | undefined {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (/^\d{1,3}$/.test(text)) return Number(text);
  const ranges = text.split(',').map((range) => range.trim());
  return ranges.every(isAddressRange) ? Object.freeze(ranges) : undefined;
}

function isAddressRange(text: string): boolean {
  if (text === 'loopback' || text === 'linklocal' || text === 'uniquelocal') return true;
  const [, address = '', bits = ''] = /^([^/%]+)(?:\/(\d+))?$/.exec(text) ?? [];
  const maxBits = isIP(address) === 4 ? 32 : 128;
  return isIP(address) > 0 && (bits === '' || readNumber(bits, /^\d+$/, 1, maxBits) !== undefined);
}
