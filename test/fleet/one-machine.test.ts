import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { folderForAll } from '../support/temporary-folder.ts';

/** The database of an operator, and a curl that waits until the first snapshot and the new key are live. */
const PRELUDE = `
curl() { command curl --silent --show-error --fail --retry 60 --retry-delay 1 --retry-all-errors "$@"; }
psql() { runuser -u postgres -- psql --quiet --dbname=ticketing -v ON_ERROR_STOP=1 "$@"; }
systemctl start postgresql
runuser -u postgres -- createdb ticketing
(cd /opt/foyer && npm run --silent sample -- --output /import --organizations 1 --tickets 500)
psql -f /opt/foyer/examples/postgresql/schema.sql
(cd /import && psql -f /opt/foyer/examples/postgresql/load.sql)
`;

/** Returns the commands in a part of a document, from a heading to a text, without those that need a network. */
function commandsIn(document: string, from: string, to: string): string {
  const [, part = ''] = `\n${readFileSync(join(ROOT, document), 'utf8')}`.split(`\n${from}\n`);
  const [text = ''] = part.split(`\n${to}`);
  const blocks = Array.from(text.matchAll(/^( *)```sh\n(.*?)^\1```$/gms), ([, , block = '']) => block);
  return blocks.join('').replace(/^apt-get .*\n/gm, '');
}

// Only root can mount a copy of the system, and only where the system permits it.
const mounts = 'mount -t tmpfs tmpfs /mnt && mount -t cgroup2 cgroup2 /mnt';
const canBoot = spawnSync('unshare', ['--mount', 'sh', '-c', mounts]).status === 0;
(canBoot ? describe : describe.skip)('One machine, by the commands of the documents', () => {
  needs('bubblewrap', 'curl', 'PostgreSQL 15', 'rclone', 'systemd', 'zstd');
  const inFolder = folderForAll();
  let output: string;

  /** Returns the output of the part of the program that prints this title. */
  const outputOf = (title: string) => output.split(`== ${title}\n`).at(1)?.split('\n== ', 1)[0];

  before('boots a copy of this system', () => {
    const recipe = commandsIn('docs/operations.md', '### One machine', '**Files.**')
      .replace('ORGANIZATION', '"$(psql -At -c \'SELECT id FROM organizations\')" | tee /key')
      .replace(/'(.* )CREDENTIAL'/, '"$1$(tail -n 1 /key)"');
    const rollback = commandsIn('docs/operations.md', '### Rollback', 'Add `--allow-shrink`')
      .replace(/^npm .*\n/, '')
      .replace('TIME.sqlite', '$(ls built | grep sqlite | head -n 1)');
    const [erasure = '', erasureInStore = ''] = commandsIn(
      'docs/howto/erase-a-person.md',
      '# Erase a person',
      '4. ',
    )
      .replaceAll('person@example.org', '"$email"')
      .split(/(?=^ *\(set)/m);
    const units = commandsIn('docs/fleet.md', '### Units', '### Kubernetes');
    const [push = '', pull = ''] = units.split(/(?=^echo SNAPSHOT_)/m);
    const program = `
      ${PRELUDE}
      echo == recipe
      ${recipe}
      echo; echo == files
      stat --format '%U %G %a' /var/lib/foyer/{keys/keys,snapshots/main}.sqlite
      echo == rollback
      systemctl start foyer-feed.service
      ${rollback}
      echo == erasure
      cd /
      email=$(psql -At -c 'SELECT email FROM customers JOIN orders ON customer_id = customers.id LIMIT 1')
      grep -rlaF "$email" /var/lib/foyer
      psql -c "UPDATE customers SET email = 'erased' WHERE email = '$email'"
      ${erasure}
      echo == fleet
      systemctl stop foyer-feed.timer
      systemctl start foyer-feed.service # Waits until a feed in progress has ended.
      install -d -o foyer-feed -g foyer -m 2750 /store
      install -D /dev/stdin /etc/systemd/system/foyer-feed.service.d/store.conf <<<$'[Service]\\nReadWritePaths=/store'
      install() { command install "$@" && [[ $* != *foyer-store.env ]] || echo STORE=/store >>/etc/foyer-store.env; }
      systemctl daemon-reload
      ${push}
      systemctl start foyer-feed.service
      echo == erasure in the store
      zstd -q <<<"$email" >/store/main/of-a-killed-push.sqlite.zst
      ${erasureInStore}
      ls /store/main
      echo == pull
      rm /var/lib/foyer/*/*.sqlite
      ${pull}
      systemctl start foyer-pull.service foyer-pull-keys.service
      stat --format '%U %G %a' /var/lib/foyer/{keys/keys,snapshots/main}.sqlite
      cat /var/lib/foyer-metrics/*.prom`;
    const options = { cwd: inFolder(''), input: program, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(join(import.meta.dirname, 'boot.sh'), [ROOT], options);
    expect(status, stdout + stderr).to.equal(0);
    output = stdout;
  });

  it('serves the database to a new key', () => {
    expect(outputOf('recipe')).to.include('{"items":[{"id":"evt_');
  });

  it('has files that only the feed writes, and the process reads', () => {
    expect(outputOf('files')).to.equal('foyer-feed foyer 640\nfoyer-feed foyer 640');
  });

  it('publishes an earlier snapshot of the feed', () => {
    expect(outputOf('rollback')).to.include('published');
  });

  it('erases a person from all files', () => {
    expect(outputOf('erasure')).to.match(/^\/var\/lib\/foyer\/snapshots\/main.sqlite\n(.*\n)*erased$/);
  });

  it('erases a person from the store', () => {
    expect(outputOf('erasure in the store'))
      .to.match(/^erased\n/m)
      .and.not.include('of-a-killed-push');
  });

  it('pushes to a store, and pulls from it', () => {
    expect(outputOf('fleet')).to.include('keys: pushed ');
    const pulled = outputOf('pull');
    expect(pulled).to.include('foyer-feed foyer 640\nfoyer-feed foyer 640\n');
    expect(pulled)
      .to.include('foyer_pull_failed{file="keys"} 0')
      .and.include('foyer_pull_failed{file="main"} 0');
  });
});
