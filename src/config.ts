import { isIP } from 'node:net';
import type { LevelWithSilent } from 'pino';

/** How one kind of value is written: what `read` makes of it (undefined when it is wrong), and what would be right. */
interface Kind<T> {
  readonly read: (text: string) => T | undefined;
  readonly rule: string;
}

interface Variable<T> extends Kind<T> {
  readonly description: string;
  /** As it would be written in the environment. */
  readonly default: string | undefined;
}

const LOG_LEVELS = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
] as const satisfies readonly LevelWithSilent[];

const PORT = wholeNumber(0, 65_535);
const HOST = kind('must be an IP address or a host name, such as 0.0.0.0, :: or localhost', readHost);
const PATH = kind('must be a path', (text) => text);

/** Every variable of the environment that means something here. All that is said of them elsewhere is taken from this. */
export const CONFIG_VARIABLES = {
  PORT: variable(PORT, '3000', 'port of the API; 0 takes any free one'),
  HOST: variable(HOST, '0.0.0.0', 'address that the API listens on'),
  ADMIN_PORT: variable(PORT, '3001', 'port for operators: health, metrics, status; 0 takes any free one'),
  ADMIN_HOST: variable(
    HOST,
    '127.0.0.1',
    'address that the port for operators listens on; nothing there asks for a key',
  ),
  SNAPSHOT_DIR: variable(PATH, 'data/snapshots', 'folder of the snapshot files'),
  KEYS_FILE: variable(PATH, 'data/keys.sqlite', 'file of the API keys, made by `npm run keys`'),
  PUBLIC_BASE_URL: optional(
    kind('must be an absolute http or https URL without user, query or fragment', readBaseUrl),
    'what links to further pages begin with, such as https://tickets.example.org; when absent, what the request was addressed to',
  ),
  TRUST_PROXY: variable(
    kind(
      'must be true, false, a number of proxies, or a comma-separated list of addresses, subnets (such as 10.0.0.0/8) and the names loopback, linklocal, uniquelocal',
      readTrust,
    ),
    'false',
    "whose X-Forwarded headers are believed: Express's `trust proxy`",
  ),
  RATE_LIMIT_PER_MINUTE: variable(
    wholeNumber(0, 1e9),
    '600',
    'requests a minute for each key; 0 sets no limit',
  ),
  OVERLOAD_DELAY_MS: variable(
    wholeNumber(0, 60_000),
    '250',
    'delay of the event loop, in milliseconds, above which requests are refused with 429; 0 refuses none',
  ),
  SNAPSHOT_POLL_SECONDS: variable(
    seconds(0.05, 86_400),
    '2',
    'how often new snapshots and changed keys are looked for, in seconds',
  ),
  SNAPSHOT_RETAIN_SECONDS: variable(
    seconds(0, 604_800),
    '300',
    'how long a replaced snapshot still serves walks that began on it, in seconds',
  ),
  MAX_SNAPSHOT_AGE_SECONDS: optional(
    seconds(1, 31_536_000),
    'age of a snapshot, in seconds, above which the process says that it is not ready; when absent, none',
  ),
  MEMORY_LIMIT_MB: optional(
    wholeNumber(256, 1e9),
    'memory that the process may use, in megabytes of 2^20 bytes: a snapshot that does not fit is refused; when absent, what the machine or its cgroup has',
  ),
  SHUTDOWN_GRACE_SECONDS: variable(
    seconds(0, 3600),
    '10',
    'how long requests under way may take to end after SIGTERM, in seconds',
  ),
  THREADS: variable(
    wholeNumber(1, 256),
    '1',
    'threads that answer requests, over one copy of the data; a good number is that of the processors, less one for loads',
  ),
  LOG_LEVEL: variable(
    kind(`must be one of ${LOG_LEVELS.join(', ')}`, (text) => LOG_LEVELS.find((level) => level === text)),
    'info',
    'least level that is logged',
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

/** The environment, read: `PUBLIC_BASE_URL` is `publicBaseUrl`, and so on. */
export type Config = { readonly [N in Name as CamelCase<N>]: Value<Variables[N]> };

export interface ConfigMistake {
  readonly variable: string;
  readonly value: string;
  readonly rule: string;
}

/** Names every mistake in the environment. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
  readonly mistakes: readonly ConfigMistake[];

  constructor(mistakes: readonly ConfigMistake[]) {
    const lines = mistakes.map(
      ({ variable, value, rule }) => `  ${variable} is ${JSON.stringify(value)}: it ${rule}`,
    );
    super(`The environment is not right:\n${lines.join('\n')}`);
    this.mistakes = mistakes;
  }
}

/**
 * Reads the environment. An empty variable counts as absent, and one that is not of `CONFIG_VARIABLES` is not looked at.
 * @throws InvalidConfig
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const mistakes: ConfigMistake[] = [];
  const values = new Map<string, unknown>();
  for (const [name, variable] of Object.entries(CONFIG_VARIABLES)) {
    const given = environment[name];
    const text = given === undefined || given === '' ? variable.default : given;
    const value = text === undefined ? undefined : variable.read(text);
    if (text !== undefined && value === undefined) {
      mistakes.push({ variable: name, value: text, rule: variable.rule });
    }
    values.set(camelCase(name), value);
  }
  const adminPort = values.get('adminPort');
  if (typeof adminPort === 'number' && adminPort > 0 && adminPort === values.get('port')) {
    mistakes.push({ variable: 'ADMIN_PORT', value: String(adminPort), rule: 'must differ from PORT' });
  }
  if (mistakes.length > 0) throw new InvalidConfig(mistakes);
  // Config is the type of exactly these values: both are read off the one table.
  return Object.freeze(Object.fromEntries(values)) as Config;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function kind<T>(rule: string, read: (text: string) => T | undefined): Kind<T> {
  return { rule, read };
}

function variable<T>(
  kind: Kind<T>,
  byDefault: string,
  description: string,
): Variable<T> & { default: string } {
  return { ...kind, default: byDefault, description };
}

function optional<T>(kind: Kind<T>, description: string): Variable<T> & { default: undefined } {
  return { ...kind, default: undefined, description };
}

function wholeNumber(least: number, most: number): Kind<number> {
  return kind(`must be a whole number from ${least} to ${most}`, (text) =>
    readNumber(text, /^\d+$/, least, most),
  );
}

function seconds(least: number, most: number): Kind<number> {
  const rule = `must be a number of seconds from ${least} to ${most}, such as 2 or 0.5`;
  return kind(rule, (text) => readNumber(text, /^\d+(\.\d+)?$/, least, most));
}

/** Number alone would take 1e3, 0x10 and blanks. */
function readNumber(text: string, form: RegExp, least: number, most: number): number | undefined {
  const value = form.test(text) ? Number(text) : NaN;
  return value >= least && value <= most ? value : undefined;
}

function readHost(text: string): string | undefined {
  const isName = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) && !/^[\d.]+$/.test(text);
  return isName || isIP(text) > 0 ? text : undefined;
}

/** The URL without a slash at its end, ready for a path to follow. */
function readBaseUrl(text: string): string | undefined {
  // The URL parser drops or repairs these; here they are mistakes.
  if (!/^https?:\/\/[^\s\\?#]+$/i.test(text)) return undefined;
  const url = URL.parse(text);
  return url?.username === '' && url.password === '' ? url.href.replace(/\/+$/, '') : undefined;
}

type Trust = boolean | number | readonly string[];

function readTrust(text: string): Trust | undefined {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (/^\d{1,3}$/.test(text)) return Number(text);
  const ranges = text.split(',').map((range) => range.trim());
  return ranges.every(isAddressRange) ? Object.freeze(ranges) : undefined;
}

function isAddressRange(text: string): boolean {
  if (text === 'loopback' || text === 'linklocal' || text === 'uniquelocal') return true;
  const [, address = '', bits = ''] = /^([^/%]+)(?:\/(\d+))?$/.exec(text) ?? [];
  const mostBits = isIP(address) === 4 ? 32 : 128;
  return isIP(address) > 0 && (bits === '' || readNumber(bits, /^\d+$/, 1, mostBits) !== undefined);
}
