import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Command, ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { freePort } from '../support/free-port.ts';
import { placeSample, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const IMAGES = join(import.meta.dirname, 'images.sh');

/** What buildah shows of an image. */
interface Inspected {
  readonly Docker: {
    readonly config: Readonly<Record<'User' | 'WorkingDir', string> & Record<'Env' | 'Cmd', string[]>> & {
      readonly Healthcheck?: { readonly Test: readonly string[] };
    };
  };
}

// Only root can give the ordinary user subordinate ids.
(process.getuid?.() === 0 ? describe : describe.skip)('An image of deploy/container', () => {
  needs('bubblewrap', 'buildah', 'mmdebstrap', 'newuidmap');
  const inFolder = folderForAll();
  let variables: readonly string[];

  before(async function () {
    this.timeout(900_000);
    variables = [`PORT=${await freePort()}`, 'ADMIN_PORT=0'];
    chmodSync(inFolder(''), 0o755);
    execFileSync('sh', [IMAGES, ROOT, 'build', process.execPath], { cwd: inFolder(''), stdio: 'inherit' });
  });

  const configOf = (image: string) =>
    (JSON.parse(readFileSync(inFolder(`${image}.json`), 'utf8')) as Inspected).Docker.config;

  /** Returns a command line that runs a command, by default its own, as the configuration of an image says. */
  function inContainer(image: string, ...command: readonly string[]): string[] {
    const { User, Env, Cmd, WorkingDir } = configOf(image);
    const start = ['sh', IMAGES, ROOT, 'run', image, ...User.split(':'), WorkingDir, ...Env, ...variables];
    return start.concat(command.length === 0 ? Cmd : command);
  }

  function run(...given: Parameters<typeof inContainer>) {
    const [program = '', ...args] = inContainer(...given);
    return spawnSync(program, args, { cwd: inFolder(''), encoding: 'utf8' });
  }

  it('serves a request with a read-only root, not as root, and reports its health', async () => {
    mkdirSync(inFolder('files/keys'), { recursive: true });
    const credential = await placeSample((name) => inFolder(`files/${name.replace(/^keys/, 'keys/keys')}`));
    execFileSync('chmod', ['--recursive', 'a+rX', inFolder('files')]);
    const check = configOf('foyer').Healthcheck?.Test.slice(1) ?? [];
    const options = { command: inContainer('foyer'), cwd: inFolder('') };
    const replica = await ReplicaUnderTest.startReady(inFolder, {}, options);
    const { pid } = await replica.waitForLog({ msg: 'listening' });
    try {
      expect(await replica.request('/v1/events', credential)).to.include({ status: 200 });
      expect(run('foyer', ...check)).to.include({ status: 0 });
      expect(run('foyer', 'id', '--user').stdout).to.equal('10001\n');
      expect(run('foyer', 'touch', '/opt/foyer/new').stderr).to.include('Read-only file system');
    } finally {
      process.kill(Number(pid), 'SIGTERM');
    }
    expect(await replica.ended).to.include({ code: 0 });
    expect(run('foyer', ...check)).to.include({ status: 1 });
  });

  it('has the files of the package, and the programs of deploy/', () => {
    const options = { cwd: ROOT, encoding: 'utf8' } as const;
    const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], options);
    const [list] = Object.values(JSON.parse(packed) as Record<string, { files: { path: string }[] }>);
    const find = `find . -type f -not -path './node_modules/*' -printf '%P\\n'`;
    const files = run('foyer', 'sh', '-c', find).stdout.trim().split('\n');
    expect(files.filter((file) => !file.startsWith('deploy/')).sort()).to.deep.equal(
      ['.npmrc', 'package-lock.json', ...list.files.map(({ path }) => path)].sort(),
    );
    expect(files).to.include('deploy/container/repeat');
  });

  it('has what a pull needs', () => {
    const folders = ['STORE', 'STATE_DIR', 'SNAPSHOT_DIR'].map((name) => `${name}=$(mktemp -d)`);
    const push = 'deploy/distribute/push /var/lib/foyer/snapshots/*.sqlite --as main';
    const script = `export ${folders.join(' ')} && ${push} && deploy/distribute/pull`;
    const { status, stderr } = run('pull', 'sh', '-c', script);
    expect(status, stderr).to.equal(0);
  });
});

describe('deploy/container/compose.yaml', () => {
  const [compose = '', containerfile = ''] = ['compose.yaml', 'Containerfile'].map((name) =>
    readFileSync(join(ROOT, 'deploy/container', name), 'utf8'),
  );
  const valuesOf = (name: string) =>
    Array.from(compose.matchAll(new RegExp(`^ +${name}:(.*)$`, 'gm')), ([, value = '']) => value.trim());

  it('has the environment and the network of foyer.service, and bounds the log', () => {
    const unit = readFileSync(join(ROOT, 'deploy/systemd/foyer.service'), 'utf8');
    const [file = ''] = valuesOf('env_file');
    expect(unit).to.include(`EnvironmentFile=${file}\n`);
    expect(readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')).to.include(
      `\`TRUST_PROXY=loopback\` and \`PUBLIC_BASE_URL=https://tickets.example.org\` in\n\`${file}\``,
    );
    expect(valuesOf('network_mode')).to.deep.equal(['host']);
    expect(['environment', 'ports'].flatMap(valuesOf)).to.deep.equal([]);
    expect(valuesOf('logging').join()).to.match(/max-size: \d+m, max-file: '\d+'/);
  });

  it('builds a stage of the Containerfile, and mounts the folder of its files', () => {
    const [file, context, [stage, folder]] = [
      valuesOf('dockerfile'),
      valuesOf('context'),
      valuesOf('target'),
    ];
    expect(join('deploy/container', ...context, ...file)).to.equal('deploy/container/Containerfile');
    expect(containerfile).to.include(` AS ${stage}\n`).and.include(`SNAPSHOT_DIR=${folder}/snapshots`);
  });
});

describe('deploy/container/repeat', () => {
  it('repeats a command, failed or not, and ends on SIGTERM', async () => {
    const command = ['deploy/container/repeat', '0', 'sh', '-c', 'echo "$PPID"; exit 1'];
    const repeat = new Command('', [], {}, { command });
    const [, pid] = await repeat.waitForOutput(/^(\d+)\n\1\n\1\n/);
    process.kill(Number(pid), 'SIGTERM');
    expect(await repeat.ended).to.include({ code: 0 });
  });
});
