import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import express from 'express';
import {
  automaticThreads,
  CONFIG_VARIABLES,
  InvalidConfig,
  misspeltVariables,
  readConfig,
} from '../src/config.ts';

const DEFAULTS = {
  port: 3000,
  host: '0.0.0.0',
  adminPort: 3001,
  adminHost: '127.0.0.1',
  snapshotDir: 'data/snapshots',
  keysFile: 'data/keys.sqlite',
  publicBaseUrl: undefined,
  trustProxy: false,
  corsOrigins: undefined,
  rateLimitPerMinute: 600,
  refusalsPerMinute: 3000,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 5000,
  maxUnsentMb: 256,
  writeTimeoutSeconds: 30,
  overloadDelayMs: 200,
  changesWaitSeconds: 600,
  compression: true,
  docs: true,
  explorer: false,
  snapshotPollSeconds: 2,
  snapshotRetainSeconds: 300,
  snapshotRetainMaxSeconds: 3600,
  loadTimeoutSeconds: 600,
  maxSnapshotAgeSeconds: undefined,
  memoryLimitMb: undefined,
  shutdownGraceSeconds: 10,
  threads: automaticThreads(),
  logLevel: 'info',
};

describe('readConfig', () => {
  it('has a default for every variable', () => {
    expect(readConfig({})).to.deep.equal(DEFAULTS);
  });

  it('treats an empty variable as absent', () => {
    const empty = Object.fromEntries(Object.keys(CONFIG_VARIABLES).map((name) => [name, '']));
    expect(readConfig(empty)).to.deep.equal(DEFAULTS);
  });

  it('ignores other variables', () => {
    expect(readConfig({ port: '1', FOYER_PORT: 'x', PATH: '/bin' })).to.deep.equal(DEFAULTS);
  });

  it('reads the environment of the process', () => {
    const before = process.env['RATE_LIMIT_PER_MINUTE'];
    process.env['RATE_LIMIT_PER_MINUTE'] = '7';
    try {
      expect(readConfig().rateLimitPerMinute).to.equal(7);
    } finally {
      if (before === undefined) delete process.env['RATE_LIMIT_PER_MINUTE'];
      else process.env['RATE_LIMIT_PER_MINUTE'] = before;
    }
  });

  it('returns a frozen configuration', () => {
    const config = readConfig({ TRUST_PROXY: 'loopback' });
    expect(config).to.be.frozen;
    expect(config.trustProxy).to.be.frozen;
  });

  const read: [variable: string, text: string, property: keyof typeof DEFAULTS, value: unknown][] = [
    ['PORT', '0', 'port', 0],
    ['PORT', '65535', 'port', 65_535],
    ['HOST', '::', 'host', '::'],
    ['HOST', '127.0.0.1', 'host', '127.0.0.1'],
    ['HOST', 'api-1.example.org', 'host', 'api-1.example.org'],
    ['ADMIN_PORT', '9000', 'adminPort', 9000],
    ['SNAPSHOT_DIR', '../my snapshots', 'snapshotDir', '../my snapshots'],
    ['KEYS_FILE', 'k.sqlite', 'keysFile', 'k.sqlite'],
    ['PUBLIC_BASE_URL', 'https://tickets.example.org', 'publicBaseUrl', 'https://tickets.example.org'],
    ['PUBLIC_BASE_URL', 'https://tickets.example.org/', 'publicBaseUrl', 'https://tickets.example.org'],
    ['PUBLIC_BASE_URL', 'HTTP://Example.org:8080/foyer/', 'publicBaseUrl', 'http://example.org:8080/foyer'],
    ['PUBLIC_BASE_URL', 'http://[::1]:3000', 'publicBaseUrl', 'http://[::1]:3000'],
    ['TRUST_PROXY', 'true', 'trustProxy', true],
    ['TRUST_PROXY', 'false', 'trustProxy', false],
    ['TRUST_PROXY', '0', 'trustProxy', 0],
    ['TRUST_PROXY', '2', 'trustProxy', 2],
    ['TRUST_PROXY', 'loopback', 'trustProxy', ['loopback']],
    ['TRUST_PROXY', 'linklocal, 10.0.0.0/8,fc00::/7', 'trustProxy', ['linklocal', '10.0.0.0/8', 'fc00::/7']],
    ['TRUST_PROXY', '192.0.2.1,::1,uniquelocal', 'trustProxy', ['192.0.2.1', '::1', 'uniquelocal']],
    ['CORS_ORIGINS', '*', 'corsOrigins', '*'],
    ['CORS_ORIGINS', 'http://localhost:5173', 'corsOrigins', ['http://localhost:5173']],
    [
      'CORS_ORIGINS',
      'HTTPS://App.example.org:443, https://bücher.example,capacitor://localhost',
      'corsOrigins',
      ['https://app.example.org', 'https://xn--bcher-kva.example', 'capacitor://localhost'],
    ],
    ['RATE_LIMIT_PER_MINUTE', '0', 'rateLimitPerMinute', 0],
    ['REFUSALS_PER_MINUTE', '0', 'refusalsPerMinute', 0],
    ['MAX_CONNECTIONS', '64', 'maxConnections', 64],
    ['MAX_CONNECTIONS_PER_ADDRESS', '1', 'maxConnectionsPerAddress', 1],
    ['MAX_UNSENT_MB', '16', 'maxUnsentMb', 16],
    ['WRITE_TIMEOUT_SECONDS', '1.5', 'writeTimeoutSeconds', 1.5],
    ['OVERLOAD_DELAY_MS', '0', 'overloadDelayMs', 0],
    ['COMPRESSION', 'off', 'compression', false],
    ['COMPRESSION', 'on', 'compression', true],
    ['DOCS', 'off', 'docs', false],
    ['EXPLORER', 'on', 'explorer', true],
    ['SNAPSHOT_POLL_SECONDS', '0.05', 'snapshotPollSeconds', 0.05],
    ['SNAPSHOT_RETAIN_SECONDS', '0', 'snapshotRetainSeconds', 0],
    ['SNAPSHOT_RETAIN_MAX_SECONDS', '0', 'snapshotRetainMaxSeconds', 0],
    ['LOAD_TIMEOUT_SECONDS', '1.5', 'loadTimeoutSeconds', 1.5],
    ['SHUTDOWN_GRACE_SECONDS', '30', 'shutdownGraceSeconds', 30],
    ['THREADS', '4', 'threads', 4],
    ['THREADS', 'auto', 'threads', automaticThreads()],
    ['LOG_LEVEL', 'silent', 'logLevel', 'silent'],
  ];
  for (const [variable, text, property, value] of read) {
    it(`reads ${variable}=${text}`, () => {
      expect(readConfig({ [variable]: text })).to.deep.equal({ ...DEFAULTS, [property]: value });
    });
  }

  const wrong: Record<string, string[]> = {
    PORT: ['65536', '-1', '+1', '1e3', '0x10', ' 80', '80 ', '3000.0', 'http', '٣'],
    HOST: ['[::1]', 'a b', 'a/b', 'localhost:3000', '1.2.3', '256.0.0.1', '-a', 'http://localhost'],
    ADMIN_PORT: ['70000'],
    PUBLIC_BASE_URL: [
      'example.org',
      '/foyer',
      'ftp://example.org',
      'http:example.org',
      'https://',
      'https://example.org/?a=1',
      'https://example.org?',
      'https://example.org/#top',
      'https://user@example.org',
      'https://user:word@example.org',
      'https://example.org/a b',
      ' https://example.org',
      'https://example.org:99999',
    ],
    TRUST_PROXY: [
      'yes',
      'TRUE',
      '-1',
      '1.5',
      '1000',
      'loopback,',
      'proxy.example.org',
      '10.0.0.0/33',
      '10.0.0.0/0',
      '10.0.0/8',
      '10.0.0.0/8/8',
      '::1/129',
      'fe80::1%eth0',
      '127.0.0.1/',
      'Loopback',
    ],
    CORS_ORIGINS: [
      'app.example.org',
      'https://app.example.org/',
      'https://app.example.org/shop',
      'https://app.example.org,',
      '*,https://app.example.org',
      'https://*.example.org',
      'https://user@example.org',
      'https://example.org:99999',
      'https://example.org?a',
      'https://example.org#a',
      'null',
    ],
    RATE_LIMIT_PER_MINUTE: ['-1', '1.5', 'none', '99999999999'],
    OVERLOAD_DELAY_MS: ['60001', '2.5'],
    COMPRESSION: ['true', 'ON', 'gzip', '0'],
    SNAPSHOT_POLL_SECONDS: ['0', '0.04', '.5', '1.', '2s', 'NaN', 'Infinity', '86401'],
    SNAPSHOT_RETAIN_SECONDS: ['-1', '604801'],
    SNAPSHOT_RETAIN_MAX_SECONDS: ['-1', '604801'],
    LOAD_TIMEOUT_SECONDS: ['0', '86401'],
    SHUTDOWN_GRACE_SECONDS: ['3601', '1e1'],
    THREADS: ['0', '257', '1.5'],
    LOG_LEVEL: ['INFO', 'verbose', 'info,debug', '30'],
  };
  for (const [variable, texts] of Object.entries(wrong)) {
    for (const value of texts) {
      it(`refuses ${variable}=${value}`, () => {
        const only = `Invalid environment:\n  ${variable} is ${JSON.stringify(value)}: it must `;
        expect(() => readConfig({ [variable]: value })).to.throw(InvalidConfig, only);
      });
    }
  }

  it('refuses EXPLORER=on with DOCS=off', () => {
    const reason = 'EXPLORER is "on": it must be off when DOCS is off';
    expect(() => readConfig({ DOCS: 'off', EXPLORER: 'on' })).to.throw(InvalidConfig, reason);
  });

  it('names all mistakes at once, with the value and the rule', () => {
    const environment = { PORT: 'x', LOG_LEVEL: 'loud', THREADS: '2', RATE_LIMIT_PER_MINUTE: '-1' };
    expect(() => readConfig(environment)).to.throw(
      InvalidConfig,
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
    expect(() => readConfig({ ADMIN_PORT: '3000' })).to.throw(InvalidConfig, reason);
    expect(readConfig({ PORT: '0', ADMIN_PORT: '0' })).to.include({ port: 0, adminPort: 0 });
  });

  it('accepts no value for TRUST_PROXY that Express refuses', () => {
    const ranges = [
      'loopback',
      '10.0.0.0/8',
      '10.0.0.1',
      '10.0.0.1/1',
      '10.0.0.1/32',
      '::1',
      '::/1',
      '::1/128',
    ];
    for (const text of ['true', 'false', '0', '3', ...ranges, ranges.join(',')]) {
      const { trustProxy } = readConfig({ TRUST_PROXY: text });
      expect(() => express().set('trust proxy', trustProxy), text).to.not.throw();
    }
  });
});

/** The names of variables that are set by systems on which the process runs. */
const ENVIRONMENTS: Readonly<Record<string, string>> = {
  'a shell': `COLORTERM COLUMNS DBUS_SESSION_BUS_ADDRESS DISPLAY EDITOR HISTFILE HOME HOST HOSTNAME HOSTTYPE LANG LC_ALL
    LESSOPEN LINES LOGNAME LS_COLORS MAIL OLDPWD OSTYPE PAGER PATH PS1 PWD SHELL SHLVL SSH_AUTH_SOCK SSH_CLIENT
    SSH_CONNECTION SSH_TTY TERM TERM_PROGRAM TMPDIR TZ USER VISUAL XDG_RUNTIME_DIR XDG_SESSION_ID _ http_proxy
    https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY NO_COLOR FORCE_COLOR`,
  npm: `INIT_CWD NODE NODE_ENV NODE_OPTIONS NODE_COMPILE_CACHE NODE_EXTRA_CA_CERTS NODE_PATH UV_THREADPOOL_SIZE COLOR
    npm_command npm_config_cache npm_config_global_prefix npm_config_globalconfig npm_config_init_module
    npm_config_local_prefix npm_config_loglevel npm_config_node_gyp npm_config_noproxy npm_config_npm_version
    npm_config_prefix npm_config_registry npm_config_user_agent npm_config_userconfig npm_execpath
    npm_lifecycle_event npm_lifecycle_script npm_node_execpath npm_package_json npm_package_name npm_package_version`,
  systemd: `CREDENTIALS_DIRECTORY CACHE_DIRECTORY CONFIGURATION_DIRECTORY INVOCATION_ID JOURNAL_STREAM LISTEN_FDS
    LISTEN_FDNAMES LISTEN_PID LOGS_DIRECTORY MAINPID MANAGERPID MEMORY_PRESSURE_WATCH MEMORY_PRESSURE_WRITE
    NOTIFY_SOCKET PIDFILE REMOTE_ADDR REMOTE_PORT RUNTIME_DIRECTORY SERVICE_RESULT STATE_DIRECTORY SYSTEMD_EXEC_PID
    TRIGGER_UNIT WATCHDOG_PID WATCHDOG_USEC`,
  'Docker and Kubernetes': `DOCKER_HOST DOCKER_TLS_VERIFY COMPOSE_PROJECT_NAME KUBERNETES_PORT KUBERNETES_PORT_443_TCP
    KUBERNETES_PORT_443_TCP_ADDR KUBERNETES_PORT_443_TCP_PORT KUBERNETES_PORT_443_TCP_PROTO KUBERNETES_SERVICE_HOST
    KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS FOYER_PORT FOYER_PORT_3000_TCP FOYER_PORT_3000_TCP_ADDR
    FOYER_SERVICE_HOST FOYER_SERVICE_PORT FOYER_ADMIN_PORT FOYER_ADMIN_SERVICE_HOST NODE_NAME POD_IP POD_NAME
    POD_NAMESPACE HOST_IP KUBECONFIG NODE_VERSION YARN_VERSION container`,
  'Marathon and Heroku': `PORTS PORT0 PORT_0 PORT_3000 MESOS_TASK_ID MARATHON_APP_ID DYNO MEMORY_AVAILABLE
    WEB_CONCURRENCY WEB_MEMORY DATABASE_URL REDIS_URL`,
  CI: `CI CI_COMMIT_SHA CI_JOB_ID CI_PIPELINE_ID CI_PROJECT_DIR CI_REGISTRY CI_SERVER CI_SERVER_HOST CI_SERVER_PORT
    CI_SERVER_URL GITHUB_ACTIONS GITHUB_BASE_REF GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_SHA GITHUB_WORKSPACE
    RUNNER_OS RUNNER_TEMP RUNNER_TOOL_CACHE BUILD_NUMBER BUILD_URL EXECUTOR_NUMBER JENKINS_URL WORKSPACE`,
  'other programs': `AWS_ACCESS_KEY_ID AWS_REGION DB_HOST DB_PORT POSTGRES_HOST POSTGRES_PORT PGHOST PGPORT PGPASSFILE
    REDIS_HOST REDIS_PORT SMTP_HOST SMTP_PORT LOG_FILE LOG_FORMAT LOG_DIR RUST_LOG DEBUG VERBOSE SENTRY_DSN
    OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_ENDPOINT SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE OMP_NUM_THREADS
    MALLOC_ARENA_MAX PM2_HOME BASE_URL PUBLIC_URL ALLOWED_HOSTS ALLOWED_ORIGINS MAX_MEMORY SHUTDOWN_TIMEOUT`,
};

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

  for (const variable of 'HOSTNAME DB_HOST PORTS PORT0 TRANSPORT POST RUST_LOG_LEVEL SNAPSHOT'.split(' ')) {
    it(`finds none that resembles ${variable}`, () => {
      expect(misspeltVariables({ [variable]: 'x' })).to.deep.equal([]);
    });
  }

  it('names no known variable', () => {
    expect(
      misspeltVariables(Object.fromEntries(Object.keys(CONFIG_VARIABLES).map((name) => [name, 'x']))),
    ).to.deep.equal([]);
  });

  for (const [what, names] of Object.entries(ENVIRONMENTS)) {
    it(`names no variable of ${what}`, () => {
      const environment = Object.fromEntries(names.split(/\s+/).map((name) => [name, 'x']));
      expect(misspeltVariables(environment)).to.deep.equal([]);
    });
  }

  it('starts a thread for each processor but one, from 1 to 8, and one where threads cannot share a port', () => {
    const started = [1, 2, 4, 9, 64].map((processors) => automaticThreads(processors, 'linux'));
    expect(started).to.deep.equal([1, 1, 3, 8, 8]);
    expect(automaticThreads(8, 'darwin')).to.equal(1);
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
  });
});
