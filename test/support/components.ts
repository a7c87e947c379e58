import { spawnSync } from 'node:child_process';
import { ROOT } from './command.ts';

/** Programs that npm does not install: a command that succeeds if the program is there, and its Debian package. */
const COMPONENTS = {
  bubblewrap: { command: 'bwrap --version', debian: 'bubblewrap' },
  buildah: { command: 'buildah --version', debian: 'buildah' },
  curl: { command: 'curl --version', debian: 'curl' },
  'Go 1.25': {
    command: 'GOTOOLCHAIN=local go list -C test/clients/programs/oapi-codegen -m',
    debian: 'golang-go',
  },
  faketime: { command: 'faketime --version', debian: 'faketime' },
  haproxy: { command: 'haproxy -v', debian: 'haproxy' },
  'JDK 17': { command: 'javac --release 17 -version', debian: 'openjdk-17-jdk-headless' },
  'libseccomp for Python': { command: '/usr/bin/python3 -c "import seccomp"', debian: 'python3-seccomp' },
  MariaDB: { command: 'mysql --version && /usr/sbin/mariadbd --version', debian: 'mariadb-server' },
  Maven: { command: 'mvn --version', debian: 'maven' },
  mmdebstrap: { command: 'mmdebstrap --version', debian: 'mmdebstrap' },
  newuidmap: { command: 'command -v newuidmap', debian: 'uidmap' },
  nginx: { command: 'nginx -v', debian: 'nginx-light' },
  openssl: { command: 'openssl version', debian: 'openssl' },
  'PostgreSQL 15': {
    command: 'psql --version && /usr/lib/postgresql/15/bin/postgres --version',
    debian: 'postgresql-15',
  },
  promtool: { command: 'promtool --version', debian: 'prometheus' },
  'Python 3.11 with venv': {
    command: 'python3 -c "import ensurepip, sys; assert sys.version_info >= (3, 11)"',
    debian: 'python3-venv',
  },
  rclone: { command: 'rclone version', debian: 'rclone' },
  'Rust 1.88': {
    command: `rustc --version | awk '{ split($2, v, "."); exit v[1] == 1 && v[2] < 88 }' && cargo --version`,
    debian: 'cargo-web',
  },
  systemd: { command: 'systemd-analyze --version', debian: 'systemd' },
  script: { command: 'script --version', debian: 'bsdutils' },
  'the shell of SQLite': { command: 'sqlite3 --version', debian: 'sqlite3' },
  zstd: { command: 'zstd --version', debian: 'zstd' },
} as const;

export type Component = keyof typeof COMPONENTS;

/** Fails the tests of the calling suite where a program is missing. They are not skipped. */
export function needs(...components: readonly Component[]): void {
  for (const component of components)
    before(`needs ${component}`, () => {
      const { command, debian } = COMPONENTS[component];
      const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8' });
      if (status !== 0)
        throw new Error(
          `${component} is needed: install the package ${debian} of Debian (${command}: ${stderr.trim()})`,
        );
    });
}
