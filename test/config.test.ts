import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { parseEnv } from 'node:util';
import { expect } from 'chai';
import express from 'express';
import { CONFIG_VARIABLES, misspeltVariables, readConfig, WrongUsage } from '../src/config.ts';

/** `.env.example` has the defaults as they are written; a test below compares them. */
const DEFAULTS = readConfig({});

const propertyOf = (variable: string) =>
  variable.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The variables whose value is a number, by their rules. */
const NUMBERS = Object.entries(CONFIG_VARIABLES).flatMap(([variable, { rule }]) => {
  const match = /(whole number|number of seconds) from ([\d.]+) to (\d+)/.exec(rule);
  if (match === null) return [];
  const [, kind, min, max] = match;
  return [{ variable, isWhole: kind === 'whole number', min: Number(min), max: Number(max) }];
});

describe('readConfig', () => {
  const expectRefused = (variable: string, text: string) => {
    const only = `Invalid environment:\n  ${variable} is ${JSON.stringify(text)}: it must `;
    expect(() => readConfig({ [variable]: text })).to.throw(WrongUsage, only);
  };

  it('treats an empty variable as absent, and ignores unknown ones', () => {
    const empty = Object.fromEntries(Object.keys(CONFIG_VARIABLES).map((name) => [name, '']));
    expect(readConfig({ ...empty, port: '1', FOYER_PORT: 'x', PATH: '/bin' })).to.deep.equal(DEFAULTS);
  });

  it('states the limits of each number in its rule', () => {
    const numbers = Object.entries(DEFAULTS).filter(([, value]) => typeof value === 'number');
    expect(NUMBERS.map(({ variable }) => propertyOf(variable))).to.include.members(
      numbers.map(([name]) => name),
    );
  });

  for (const { variable, isWhole, min, max } of NUMBERS) {
    it(`reads ${variable} from ${min} to ${max}, and nothing else`, () => {
      for (const value of isWhole ? [min, max] : [min, min + 0.5, max]) {
        const expected = { ...DEFAULTS, [propertyOf(variable)]: value };
        expect(readConfig({ [variable]: String(value) })).to.deep.equal(expected);
      }
      for (const value of [...(min > 0 ? [0] : []), min - 0.01, max + 1, max + 0.01])
        expectRefused(variable, String(value));
      for (const text of ['-1', '+5', '5e2', '0x200', ' 500', '500 ', '500.', '.5', '500s', 'NaN', '٣٠٠'])
        expectRefused(variable, text);
      if (isWhole) expectRefused(variable, `${min}.0`);
    });
  }

  const read: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    HOST: { '::': '::', '127.0.0.1': '127.0.0.1', 'api-1.example.org': 'api-1.example.org' },
    SNAPSHOT_DIR: { '../my snapshots': '../my snapshots' },
    KEYS_FILE: { 'k.sqlite': 'k.sqlite' },
    PUBLIC_BASE_URL: {
      'https://tickets.example.org': 'https://tickets.example.org',
      'https://tickets.example.org/': 'https://tickets.example.org',
      'HTTP://Example.org:8080/foyer/': 'http://example.org:8080/foyer',
      'http://[::1]:3000': 'http://[::1]:3000',
    },
    TRUST_PROXY: {
      ...{ true: true, false: false, '0': 0, '2': 2, loopback: ['loopback'] },
      'linklocal, 10.0.0.0/8,fc00::/7': ['linklocal', '10.0.0.0/8', 'fc00::/7'],
      '192.0.2.1,::1,uniquelocal': ['192.0.2.1', '::1', 'uniquelocal'],
    },
    CORS_ORIGINS: {
      '*': '*',
      'http://localhost:5173': ['http://localhost:5173'],
      'HTTPS://App.example.org:443, https://bücher.example,capacitor://localhost': [
        'https://app.example.org',
        'https://xn--bcher-kva.example',
        'capacitor://localhost',
      ],
    },
    COMPRESSION: { off: false, on: true },
    DOCS: { off: false },
    EXPLORER: { on: true },
    THREADS: { 256: 256 },
    LOG_LEVEL: { silent: 'silent' },
  };
  for (const [variable, values] of Object.entries(read)) {
    for (const [text, value] of Object.entries(values)) {
      it(`reads ${variable}=${text}`, () => {
        expect(readConfig({ [variable]: text })).to.deep.equal({
          ...DEFAULTS,
          [propertyOf(variable)]: value,
        });
      });
    }
  }

  const wrong: Readonly<Record<string, string>> = {
    HOST: '[::1]|a b|a/b|localhost:3000|1.2.3|256.0.0.1|-a|http://localhost',
    PUBLIC_BASE_URL:
      'example.org|/foyer|ftp://example.org|http:example.org|https://|https://example.org/?a=1|https://example.org?|' +
      'https://example.org/#top|https://user@example.org|https://user:word@example.org|https://example.org/a b|' +
      ' https://example.org|https://example.org:99999',
    TRUST_PROXY:
      'yes|TRUE|-1|1.5|1000|loopback,|proxy.example.org|10.0.0.0/33|10.0.0.0/0|10.0.0/8|10.0.0.0/8/8|::1/129|' +
      'fe80::1%eth0|127.0.0.1/|Loopback',
    CORS_ORIGINS:
      'app.example.org|https://app.example.org/|https://app.example.org/shop|https://app.example.org,|' +
      '*,https://app.example.org|https://*.example.org|https://user@example.org|https://example.org:99999|' +
      'https://example.org?a|https://example.org#a|null',
    COMPRESSION: 'true|ON|gzip|0',
    LOG_LEVEL: 'INFO|verbose|info,debug|30',
  };
  for (const [variable, texts] of Object.entries(wrong)) {
    for (const text of texts.split('|')) {
      it(`refuses ${variable}=${text}`, () => {
        expectRefused(variable, text);
      });
    }
  }

  it('refuses EXPLORER=on with DOCS=off', () => {
    const reason = 'EXPLORER is "on": it must be off when DOCS is off';
    expect(() => readConfig({ DOCS: 'off', EXPLORER: 'on' })).to.throw(WrongUsage, reason);
  });

  it('names all mistakes at once, with the value and the rule', () => {
    const environment = { PORT: 'x', LOG_LEVEL: 'loud', THREADS: '2', RATE_LIMIT_PER_MINUTE: '-1' };
    expect(() => readConfig(environment)).to.throw(
      WrongUsage,
      [
        'Invalid environment:',
        '  PORT is "x": it must be a whole number from 0 to 65535',
        '  RATE_LIMIT_PER_MINUTE is "-1": it must be a whole number from 0 to 16000000',
        '  LOG_LEVEL is "loud": it must be one of trace, debug, info, warn, error, fatal, silent',
      ].join('\n'),
    );
  });

  it('refuses the same port for both servers', () => {
    const reason = 'ADMIN_PORT is "3000": it must differ from PORT';
    expect(() => readConfig({ ADMIN_PORT: '3000' })).to.throw(WrongUsage, reason);
    expect(readConfig({ PORT: '0', ADMIN_PORT: '0' })).to.include({ port: 0, adminPort: 0 });
  });

  it('accepts no value for TRUST_PROXY that Express refuses', () => {
    const ranges = 'loopback 10.0.0.0/8 10.0.0.1 10.0.0.1/1 10.0.0.1/32 ::1 ::/1 ::1/128'.split(' ');
    for (const text of ['true', 'false', '0', '3', ...ranges, ranges.join(',')]) {
      const { trustProxy } = readConfig({ TRUST_PROXY: text });
      expect(() => express().set('trust proxy', trustProxy), text).to.not.throw();
    }
  });
});

describe('misspeltVariables', () => {
  for (const [variable, similar] of [
    ['SNAPSHOT_DIRS', 'SNAPSHOT_DIR'],
    ['SNAPSHOT_DIRECTORY', 'SNAPSHOT_DIR'],
    ['SNAPSHOTS_DIR', 'SNAPSHOT_DIR'],
    ['SNPASHOT_DIR', 'SNAPSHOT_DIR'],
    ['SNAPSHOT_RETAIN_MAX_SECOND', 'SNAPSHOT_RETAIN_MAX_SECONDS'],
    ['TRUST_PROXYS', 'TRUST_PROXY'],
    ['TRUST_PROXIES', 'TRUST_PROXY'],
    ['RATE_LIMIT_PER_MIN', 'RATE_LIMIT_PER_MINUTE'],
    ['RATE_LIMIT', 'RATE_LIMIT_PER_MINUTE'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['THREAD', 'THREADS'],
    ['port', 'PORT'],
  ]) {
    it(`reports that ${variable} resembles ${similar}`, () => {
      expect(misspeltVariables({ [variable]: 'x', PORT: '80' })).to.deep.equal([{ variable, similar }]);
    });
  }

  // Names that other programs use, and names that are a little less similar than the misspelt ones above.
  const different =
    'HOSTNAME HOSTTYPE DB_HOST DB_PORT FOYER_PORT FOYER_SERVICE_HOST REMOTE_PORT KUBERNETES_PORT PORTS PORT0 PORT_0 ' +
    'TRANSPORT POST LOGNAME LOG_FILE LOG_DIR LOG_FORMAT RUST_LOG RUST_LOG_LEVEL OMP_NUM_THREADS THREAD_1 COLUMNS SNAPSHOT ' +
    'PUBLIC_URL BASE_URL ALLOWED_HOSTS ALLOWED_ORIGINS MAX_MEMORY MEMORY_AVAILABLE WEB_MEMORY SHUTDOWN_TIMEOUT ' +
    'http_proxy NO_PROXY SSL_CERT_DIR CACHE_DIRECTORY NODE_NAME POD_NAME PGHOST DEBUG';
  for (const variable of different.split(' ')) {
    it(`finds none that resembles ${variable}`, () => {
      expect(misspeltVariables({ [variable]: 'x' })).to.deep.equal([]);
    });
  }

  it('names no known variable', () => {
    expect(
      misspeltVariables(Object.fromEntries(Object.keys(CONFIG_VARIABLES).map((name) => [name, 'x']))),
    ).to.deep.equal([]);
  });
});

describe('THREADS', () => {
  const [realPlatform, realParallelism] = [process.platform, os.availableParallelism];
  const onSystem = (platform: string, processors: number): void => {
    Object.defineProperty(process, 'platform', { value: platform });
    os.availableParallelism = () => processors;
    syncBuiltinESMExports();
  };
  afterEach(() => {
    onSystem(realPlatform, realParallelism());
  });

  it('is by default one for each processor but one, from 1 to 8', () => {
    const started = [1, 2, 4, 9, 64].map((processors) => {
      onSystem('linux', processors);
      return readConfig({}).threads;
    });
    expect(started).to.deep.equal([1, 1, 3, 8, 8]);
  });

  it('is 1 where threads cannot share a port', () => {
    onSystem('darwin', 8);
    expect(readConfig({}).threads).to.equal(1);
    expect(readConfig({ THREADS: '1' }).threads).to.equal(1);
    expect(() => readConfig({ THREADS: '2' })).to.throw(WrongUsage, '1 where threads cannot share a port');
  });
});

describe('.env.example', () => {
  it('lists every variable with its description and its default', () => {
    const file = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');
    const [heading, ...variables] = file.trimEnd().split('\n\n');
    expect(heading).to.match(/^(#.*\n?)+$/);
    expect(variables).to.deep.equal(
      Object.entries(CONFIG_VARIABLES).map(
        ([name, { description, default: value = '' }]) => `# ${description}\n${name}=${value}`,
      ),
    );
    expect(readConfig(parseEnv(file))).to.deep.equal(DEFAULTS);
  });
});
