import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { main as keys } from '../../scripts/keys.ts';
import { runHere } from '../support/command.ts';
import { writeImport } from '../support/import-folder.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { SnapshotCommand } from './snapshot-command.ts';

const HOSTILE = '\u001b[2J\u009b\u202e\u2028\ufeff\u{e0001}';
const ESCAPED = String.raw`\u001b[2J\u009b\u202e\u2028\ufeff\udb40\udc01`;
const CONTROLS = /[^\P{C}\n]|[\u2028\u2029]/u;

describe('Texts of files in the output of commands', () => {
  const snapshot = new SnapshotCommand();
  const { folder } = snapshot;

  /** Runs a command in a process. Returns its output, which has no control characters but line ends. */
  async function outputOf(line: string, status: number): Promise<string> {
    const { code, stdout, stderr } = await snapshot.start(line).ended;
    expect(code, line + stderr).to.equal(status);
    expect(stdout + stderr, line).to.not.match(CONTROLS);
    return stdout + stderr;
  }

  before(() => {
    const { organizations, orders } = SMALL_IMPORT;
    writeImport(folder('hostile'), {
      ...SMALL_IMPORT,
      organizations: organizations.map((one) => ({ ...one, name: `${HOSTILE}\n` })),
      orders: [...orders, { ...orders[0], orderId: ` ${HOSTILE}\n` }],
    });
    writeImport(folder('entries'), { ...SMALL_IMPORT, [`events.${HOSTILE}\n`]: '' });
    writeImport(folder('misnamed'), { ...SMALL_IMPORT, [`events-${HOSTILE}\n.csv`]: '' });
  });

  it('has escapes in place of control characters', async () => {
    const file = `@output/${HOSTILE}.sqlite`;
    for (const [line, status] of [
      [`build --input @hostile --output ${file}`, 0],
      [`build --input @hostile --output ${file} --strict`, 1],
      [`verify ${file}`, 0],
      [`verify ${file} --strict --json`, 1],
      [`inspect ${file}`, 0],
      [`inspect ${file} --json`, 0],
      [`plan ${file} --memory 16G`, 0],
      [`plan ${file} ${file} --memory 16G`, 1],
      [`diff @good.sqlite ${file}`, 0],
      [`publish @${HOSTILE}`, 1],
      [`verify --${HOSTILE}`, 2],
      ['build --input @misnamed --output @output/a.sqlite', 1],
      ['build --input @entries --output @output/a.sqlite', 0],
    ] as const)
      expect(await outputOf(line, status), line).to.include(ESCAPED);
  });

  it('has no line ends, as which a text could pass for output of the command', async () => {
    for (const command of ['verify', 'inspect'])
      expect(await outputOf(`${command} @output/${HOSTILE}.sqlite`, 0)).to.include(
        `first:  ${ESCAPED}\\u000a (`,
      );
  });

  it('is the same in JSON', async () => {
    const { organizations } = JSON.parse(await outputOf(`inspect @output/${HOSTILE}.sqlite --json`, 0)) as {
      organizations: { name: string }[];
    };
    expect(organizations[0].name).to.equal(`${HOSTILE}\n`);
  });

  it('has escapes in the messages of keys', async () => {
    const { stderr } = await runHere(keys, ['list', '--file', folder(`${HOSTILE}/keys.sqlite`)]);
    expect(stderr).to.include(ESCAPED).and.not.match(CONTROLS);
  });
});

describe('A pipe in place of a file', () => {
  const snapshot = new SnapshotCommand();
  const { folder } = snapshot;

  before(() => {
    execFileSync('mkfifo', [folder('pipe')]);
    for (const name of ['events.ndjson', 'organizations.ndjson', 'deletions.ndjson.gz', 'event.ndjson']) {
      writeImport(folder(`of-${name}`), { tickets: SMALL_IMPORT.tickets });
      symlinkSync(folder('pipe'), folder(`of-${name}/${name}`));
    }
  });

  for (const name of ['events.ndjson', 'organizations.ndjson', 'deletions.ndjson.gz'])
    it(`is refused as ${name}, also behind a link`, async () => {
      const build = snapshot.start(`build --input @of-${name} --base @good.sqlite --output @output/a.sqlite`);
      expect((await build.ended).stderr).to.equal(
        `${folder(`of-${name}`)}: ${name}: not a regular file; no snapshot was written\n`,
      );
    });

  for (const line of [
    'build --input @of-event.ndjson --output @output/a.sqlite',
    'build --input @pipe --output @output/a.sqlite',
    'build --input @import --output @pipe',
    'build --input @import --base @pipe --output @output/a.sqlite',
    'build --input @import --previous @pipe --output @output/a.sqlite',
    'publish @pipe --as a',
    'verify @pipe',
    'inspect @pipe',
    'diff @good.sqlite @pipe',
    'plan @pipe --memory 16G',
  ])
    it(`is refused by ${line}`, async () => {
      expect(await snapshot.refusalOf(line, { SNAPSHOT_DIR: folder('output') })).to.match(
        /regular file|not a folder|misnamed/,
      );
    });
});
