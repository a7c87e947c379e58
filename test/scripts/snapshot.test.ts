import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { main } from '../../scripts/snapshot.ts';
import { memoryNeed, plannedMemory } from '../../src/snapshot/admission/memory.ts';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { FULL_TICKET, inOrganization, minimalTicket, times } from '../support/records.ts';
import { toFile, writeImport } from '../support/import-folder.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { Command, type Ended, run, runHere } from '../support/command.ts';

const SCRIPT = 'scripts/snapshot.ts';

function snapshot(...parameters: readonly string[]): Promise<Omit<Ended, 'signal'>> {
  return runHere(main, parameters);
}

/** Runs a command that succeeds without a warning. Returns its standard output. */
async function outputOf(...parameters: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await snapshot(...parameters);
  expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  return stdout;
}

/** Runs a command that refuses its work. Returns its standard error, which has no stack. */
async function refusalOf(...parameters: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await snapshot(...parameters);
  expect({ code, stdout }, stderr).to.deep.equal({ code: 1, stdout: '' });
  expect(stderr).to.not.include('    at ');
  return stderr;
}

describe('npm run snapshot', () => {
  const folder = folderForAll();
  const good = () => folder('good/a.sqlite');
  const build = (input: string, output: string) => [
    'build',
    '--input',
    folder(input),
    '--output',
    folder(output),
  ];
  /** Writes a copy of the good file with one changed byte. */
  const damaged = () => {
    const bytes = readFileSync(good());
    bytes[bytes.lastIndexOf('ticketId') + 12] ^= 1;
    writeFileSync(folder('good/damaged.sqlite'), bytes);
    return folder('good/damaged.sqlite');
  };

  before(async () => {
    writeImport(folder('import'), SMALL_IMPORT);
    for (const name of ['good', 'output', 'empty']) mkdirSync(folder(name));
    await outputOf(...build('import', 'good/a.sqlite'));
  });

  describe('build', () => {
    it('reports the counts, the dropped fields and the entries not read on standard output', async () => {
      const tickets = SMALL_IMPORT.tickets.map((ticket) => ({ ...ticket, colour: 'red' }));
      writeImport(folder('report'), { ...SMALL_IMPORT, tickets });
      writeFileSync(folder('report/README.md'), 'An export.');
      const stdout = await outputOf(...build('report', 'good/report.sqlite'));
      const output = folder('good/report.sqlite');
      const { snapshotId, producedAt } = inspectSnapshot(output);
      expect(stdout.replace(/\d\.\d s/, 'N s'))
        .to.match(
          new RegExp(`^${output}: built in N s\n  snapshot +${snapshotId}\n  produced at +${producedAt}\n`),
        )
        .and.include(
          '\n  organizations    2\n  events           8\n  sessions        20\n  tickets        120\n  orders          18\n  offers          10\n',
        )
        .and.include('\n  not read: README.md\n')
        .and.include('dropped, not in the specification: tickets.ndjson: colour (120 times)');
    });

    it('refuses bad lines, in all groups by file, field and reason, and writes no output', async () => {
      const orders = SMALL_IMPORT.orders.map((order) => ({
        ...order,
        placedItems: [{}, { quantity: 'two' }],
      }));
      const fields = Object.keys(FULL_TICKET).filter((name) => name !== 'cancelledAt');
      const ticket = Object.fromEntries(fields.map((name) => [name, ['wrong']]));
      writeImport(folder('bad'), { ...SMALL_IMPORT, orders: [], tickets: [ticket] });
      writeFileSync(folder('bad/orders.ndjson.gz'), gzipSync(toFile([...orders, ...orders])));
      rmSync(folder('bad/orders.ndjson'));
      const lines = (await refusalOf(...build('bad', 'output/a.sqlite'))).trimEnd().split('\n');
      expect(lines.splice(0, fields.length + 1).join('\n')).to.match(
        /^(tickets\.ndjson: \w+ (is missing|must be .*, found \["wrong"\]): line 1\n?)*$/,
      );
      expect(lines.slice(0, -1)).to.deep.equal([
        'orders.ndjson.gz: placedItems[].quantity must be integer or null, found "two": 36 lines, first: 1',
        'orders.ndjson.gz: orderId must be unique, found "ord_0" also on line 1: 18 lines, first: 19',
      ]);
      expect(lines.at(-1)).to.match(/contains 37 bad lines; no snapshot was written \(--skip-invalid /);
      expect(readdirSync(folder('output'))).to.deep.equal([]);
    });

    it('applies changes to a base, and reports them', async () => {
      writeImport(folder('changes'), { tickets: [{ ...SMALL_IMPORT.tickets[0], status: 'NEW' }] });
      const gone = { organizationId: 'south', collection: 'orders' };
      const deletions = ['ord_1', 'none'].map((id) => ({ ...gone, id }));
      writeFileSync(folder('changes/deletions.ndjson'), toFile(deletions));
      const asOf = new Date().toISOString();
      const words = [...build('changes', 'good/changed.sqlite'), '--base', good(), '--as-of', asOf];
      expect(await outputOf(...words))
        .to.include(`\n  changes to ${good()}: 1 replaced, 0 added, 1 deleted\n`)
        .and.include('\n  deletions of records that it does not have: 1\n')
        .and.include('\n  history: 1 records changed, 1 gone; earlier snapshots: 1\n')
        .and.match(/\n {2}runs: \d+ copied, \d+ written\n/);
      expect(inspectSnapshot(folder('good/changed.sqlite')).producedAt).to.equal(asOf);
    });

    it('finds the changes of a whole export by the previous snapshot', async () => {
      writeImport(folder('next'), { ...SMALL_IMPORT, tickets: SMALL_IMPORT.tickets.slice(2) });
      const words = [...build('next', 'good/next.sqlite'), '--previous', good()];
      expect(await outputOf(...words, '--keep-changes', '12h')).to.include(
        '\n  history: 0 records changed, 2 gone; ',
      );
      const { code, stderr } = await snapshot(...words, '--base', good());
      expect(`${code}: ${stderr}`).to.include('2: error: --base and --previous exclude each other');
    });

    it('refuses a base that is later or no snapshot, deletions without a base, and a time in the future', async () => {
      const refusal = async (...more: string[]) => {
        const { code, stderr } = await snapshot(...build('import', 'good/none.sqlite'), ...more);
        return `${code}: ${stderr}`;
      };
      expect(await refusal('--base', good(), '--as-of', '2026-01-01T00:00:00Z')).to.match(
        /^1: .*a\.sqlite: its time, .*, is not before 2026-01-01T00:00:00\.000Z: check --as-of and the clock/,
      );
      expect(await refusal('--base', folder('import/tickets.ndjson'))).to.include(
        'it is not an SQLite database',
      );
      expect(await refusal('--base', folder('absent'))).to.include('absent: no such file');
      expect(await refusal('--as-of', '9999-01-01T00:00:00Z')).to.match(/^2: .*must not be in the future/);
      expect(await refusal('--as-of', 'today')).to.match(/^2: .*ISO 8601/);
      writeFileSync(folder('import/deletions.ndjson'), '');
      expect(await refusal()).to.match(/^1: .*deletions\.ndjson: .*build with --base FILE/);
      rmSync(folder('import/deletions.ndjson'));
    });

    it('accepts a time in the future with --allow-future', async () => {
      const output = folder('good/future.sqlite');
      const asOf = '9999-01-01T00:00:00.000Z';
      await outputOf(...build('import', 'good/future.sqlite'), '--as-of', asOf, '--allow-future');
      expect(inspectSnapshot(output).producedAt).to.equal(asOf);
      rmSync(output);
    });

    it('names the output and its folder when the disk is full, and leaves nothing behind', async () => {
      // Files of 16 kB are not enough for the staging file.
      const [environment, limits] = [{ NODE_DISABLE_COMPILE_CACHE: '1' }, { fileBlocks: 32 }];
      const command = new Command(SCRIPT, build('import', 'output/a.sqlite'), environment, limits);
      const { code, stdout, stderr } = await command.ended;
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr)
        .to.include(`${folder('output/a.sqlite')}: cannot be built: `)
        .and.include(`; check the disk of ${folder('output')}, and that of`)
        .and.not.include('    at ');
      expect(readdirSync(folder('output'))).to.deep.equal([]);
    });

    it('omits at most 1 % bad lines with --skip-invalid, and names the file that has them', async () => {
      const tickets = times(20, (i) => ({ ...SMALL_IMPORT.tickets[0], ticketId: `t${i}`, qrCode: `${i}` }));
      writeImport(folder('few'), {
        ...SMALL_IMPORT,
        tickets: [...SMALL_IMPORT.tickets, ...tickets, '{}', 'x'],
      });
      const output = folder('good/few.sqlite');
      expect(await outputOf(...build('few', 'good/few.sqlite'), '--skip-invalid')).to.include(
        `omitted: 2 bad lines, see ${output}.rejects.ndjson`,
      );
      expect(readFileSync(`${output}.rejects.ndjson`, 'utf8').split('\n')).to.have.length(3);
    });

    it('omits as many lines as --max-invalid permits', async () => {
      writeImport(folder('many'), { ...SMALL_IMPORT, tickets: [...SMALL_IMPORT.tickets, '{}', 'x'] });
      const words = [...build('many', 'good/many.sqlite'), '--skip-invalid'];
      for (const limit of [[], ['--max-invalid=1'], ['--max-invalid', '0.9%']]) {
        expect(await refusalOf(...words, ...limit))
          .to.match(/^tickets\.ndjson: organizationId is missing: line 121\n/)
          .and.include('contains 2 bad lines, of 180 read; at most 1 may be omitted; no snapshot was written')
          .and.include('--max-invalid');
      }
      expect(existsSync(folder('good/many.sqlite'))).to.equal(false);
      for (const limit of ['2', '1.2%']) await outputOf(...words, '--max-invalid', limit);
    });

    for (const [fault, input, output, reason] of [
      ['an absent import folder', 'nowhere', 'output/b', /nowhere: not a folder/],
      ['a file as import folder', 'import/events.ndjson', 'output/b', /events\.ndjson: not a folder/],
      [
        'a folder without any import file',
        'empty',
        'output/b',
        /empty: no organization: organizations\.ndjson must have a line for each organization; no snapshot was written/,
      ],
      [
        'a file in both compressed and plain form',
        'both',
        'output/b',
        /both: events\.ndjson and events\.ndjson\.gz: both exist/,
      ],
      [
        'an invalid compressed file',
        'fake',
        'output/b',
        /fake: tickets\.ndjson\.gz: incorrect header check; no snapshot was written/,
      ],
      [
        'a misnamed file',
        'misnamed',
        'output/b',
        /^ticket\.csv: not an import file; did you mean tickets\.ndjson or .*\n.*misnamed: 1 entry is misnamed; no snapshot was written\n$/,
      ],
      ['an absent output folder', 'import', 'nowhere/b', /nowhere: no such folder for the output/],
      ['a folder as output', 'import', 'good', /good: not a regular file/],
    ] as const) {
      it(`refuses ${fault}`, async () => {
        for (const name of ['both', 'fake', 'misnamed']) writeImport(folder(name), SMALL_IMPORT);
        writeFileSync(folder('both/events.ndjson.gz'), gzipSync(''));
        rmSync(folder('fake/tickets.ndjson'));
        writeFileSync(folder('fake/tickets.ndjson.gz'), 'no');
        writeFileSync(folder('misnamed/ticket.csv'), 'ticketId');
        expect(await refusalOf(...build(input, output))).to.match(reason);
        expect(readdirSync(folder('output'))).to.deep.equal([]);
      });
    }

    for (const [signal, file] of [
      ['SIGINT', 'staging.sqlite'],
      ['SIGTERM', 'snapshot.sqlite'],
    ] as const) {
      it(`leaves no file behind on ${signal} after ${file} appears, and the previous file unchanged`, async () => {
        const tickets = times(60_000, (i) => inOrganization('north')(minimalTicket(`t${i}`)));
        writeImport(folder('large'), { ...SMALL_IMPORT, tickets });
        mkdirSync(folder(signal));
        const output = folder(`${signal}/a.sqlite`);
        writeFileSync(output, 'previous file');
        const appeared = appearance(folder(signal), (name) => name.startsWith('a.sqlite.building-'));
        const command = new Command(SCRIPT, build('large', `${signal}/a.sqlite`), {});
        const building = join(folder(signal), await appeared);
        await appearance(building, (name) => name === file);
        command.kill(signal);
        const { code, stdout, stderr } = await command.ended;
        expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
        // A slow build has shown its progress before.
        expect(stderr.split('\n').slice(-2)).to.deep.equal([
          `interrupted by ${signal}; no snapshot was written`,
          '',
        ]);
        expect(readdirSync(folder(signal))).to.deep.equal(['a.sqlite']);
        expect(readFileSync(output, 'utf8')).to.equal('previous file');
      });
    }
  });

  it('verify reports a sound file', async () => {
    const stdout = await outputOf('verify', good());
    const { snapshotId, producedAt } = inspectSnapshot(good());
    expect(stdout.replace(/\d+\.\d (s|MB)/g, 'N $1').split('\n')).to.deep.equal([
      `${good()}: sound, checked in N s`,
      `  snapshot       ${snapshotId}`,
      `  produced at    ${producedAt}`,
      '  size           N MB',
      '  organizations  2',
      '  records        176',
      '',
    ]);
  });

  it('inspect shows the organizations and their counts', async () => {
    const stdout = await outputOf('inspect', good());
    const { snapshotId, producedAt } = inspectSnapshot(good());
    expect(stdout.replace(/\d+\.\d [kM]B/g, 'N MB').split('\n')).to.deep.equal([
      `${good()}: snapshot`,
      `  snapshot     ${snapshotId}`,
      `  produced at  ${producedAt}`,
      '  size         N MB',
      '  memory       data N MB, load N MB, plan N MB',
      '  history      begins with this snapshot',
      '',
      'ORGANIZATION  NAME',
      'north         Nord',
      'south         Süd',
      '',
      'ORGANIZATION     EVENTS  SESSIONS  TICKETS  ORDERS  OFFERS',
      'north                 4        10       60       9       5',
      'south                 4        10       60       9       5',
      '2 organizations       8        20      120      18      10',
      '',
    ]);
  });

  it('inspect refuses damaged records, after it has shown the counts', async () => {
    const { code, stdout, stderr } = await snapshot('inspect', damaged());
    expect(code).to.equal(1);
    expect(stdout).to.include('ORGANIZATION');
    expect(stderr).to.match(
      /good\/damaged\.sqlite: the content of organization "\w+" does not match its digest/,
    );
  });

  for (const command of ['verify', 'inspect']) {
    it(`${command} refuses any other file, with its name and the reason`, async () => {
      const cut = folder('good/cut.sqlite');
      writeFileSync(cut, readFileSync(good()));
      truncateSync(cut, 50_000);
      for (const [file, reason] of [
        [folder('nowhere.sqlite'), 'no such file'],
        [folder('good'), 'it is not a regular file'],
        [folder('import/events.ndjson'), 'it is not an SQLite database'],
        [cut, 'it is truncated'],
        ...(command === 'verify' ? [[damaged(), 'does not match its digest']] : []),
      ]) {
        expect(await refusalOf(command, file))
          .to.include(`${file}: `)
          .and.include(reason);
      }
    });
  }

  describe('with records that look wrong', () => {
    const suspect = () => folder('good/suspect.sqlite');
    const WARNING = 'warning: tickets: orderId names no order: 1 record, first: tkt_x ("ord_9") of north\n';

    before(async () => {
      const ticket = { ...SMALL_IMPORT.tickets[0], ticketId: 'tkt_x', orderId: 'ord_9', qrCode: 'x' };
      writeImport(folder('suspect'), { ...SMALL_IMPORT, tickets: [...SMALL_IMPORT.tickets, ticket] });
      const built = await snapshot(...build('suspect', 'good/suspect.sqlite'));
      expect(built).to.include({ code: 0, stderr: WARNING });
    });

    for (const command of ['verify', 'inspect']) {
      it(`${command} warns on standard error`, async () => {
        const { code, stdout, stderr } = await snapshot(command, suspect());
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: WARNING });
        expect(stdout).to.include(`${suspect()}: `);
      });
    }

    it('build --strict refuses them, and writes no output', async () => {
      expect(await refusalOf(...build('suspect', 'output/a.sqlite'), '--strict')).to.equal(
        `${WARNING}${folder('suspect')}: --strict refuses records that look wrong; no snapshot was written\n`,
      );
      expect(readdirSync(folder('output'))).to.deep.equal([]);
    });

    it('verify --strict refuses them', async () => {
      expect(await run(SCRIPT, ['verify', '--strict', suspect()])).to.deep.equal({
        code: 1,
        signal: null,
        stdout: '',
        stderr: `${WARNING}${suspect()}: --strict refuses records that look wrong\n`,
      });
      await outputOf('verify', '--strict', good());
    });
  });

  describe('--json', () => {
    const json = async (...parameters: readonly string[]) => {
      const { code, stdout, stderr } = await snapshot(...parameters, '--json');
      // One line, which is one object.
      expect(stdout.split('\n')).to.have.length(2);
      const report: Record<string, unknown> = { code, stderr, ...(JSON.parse(stdout) as object) };
      return report;
    };
    const figures = { fileBytes: 0, seconds: 0 };
    const ofGood = () => {
      const { snapshotId, producedAt } = inspectSnapshot(good());
      return { code: 0, stderr: '', file: good(), snapshotId, producedAt };
    };

    it('build reports the counts of records, changes and lines', async () => {
      const output = folder('good/json.sqlite');
      const words = [...build('import', 'good/json.sqlite'), '--previous', good()];
      const { snapshotId, producedAt, ...report } = await json(...words);
      expect(inspectSnapshot(output)).to.include({ snapshotId, producedAt });
      expect({ ...report, ...figures }).to.deep.equal({
        ...figures,
        code: 0,
        stderr: '',
        file: output,
        organizations: 2,
        records: { events: 8, sessions: 20, tickets: 120, orders: 18, offers: 10 },
        history: { snapshots: 1, changed: 0, deleted: 0, deletions: 0 },
        dropped: {},
        rejected: 0,
        unread: [],
        warnings: [],
      });
    });

    it('verify and inspect describe the file', async () => {
      expect({ ...(await json('verify', good())), ...figures }).to.deep.equal({
        ...ofGood(),
        ...figures,
        organizations: 2,
        records: 176,
        warnings: [],
      });
      const records = { events: 4, sessions: 10, tickets: 60, orders: 9, offers: 5 };
      const { fileBytes, memory, ...inspected } = await json('inspect', good());
      expect(fileBytes).to.equal(statSync(good()).size);
      const need = memoryNeed(inspectSnapshot(good()).organizations);
      expect(memory).to.deep.equal({
        dataBytes: need.held,
        loadBytes: need.peak,
        plannedBytes: plannedMemory(need),
      });
      expect(inspected).to.deep.equal({
        ...ofGood(),
        permits: [],
        history: {
          snapshots: 0,
          since: null,
          changed: { events: 8, sessions: 20, tickets: 120, orders: 18, offers: 10 },
          deleted: 0,
        },
        organizations: [
          { organizationId: 'north', name: 'Nord', records },
          { organizationId: 'south', name: 'Süd', records },
        ],
        warnings: [],
      });
    });

    it('has the reason of a refusal, which is on standard error too', async () => {
      const file = folder('import/events.ndjson');
      const message = `${file}: it is not an SQLite database`;
      for (const command of ['verify', 'inspect']) {
        expect(await json(command, file)).to.deep.equal({
          code: 1,
          stderr: `${message}\n`,
          error: { message, file, reason: 'not-sqlite' },
        });
      }
      expect(await json('diff', good(), file)).to.have.deep.property('error', {
        message,
        reason: 'not-sqlite',
      });
      const absent = folder('absent.sqlite');
      expect(await json('verify', absent)).to.have.deep.property('error', {
        message: `${absent}: no such file`,
        file: absent,
      });
    });

    it('has the groups of bad lines of a refused import', async () => {
      const input = folder('json-bad');
      writeImport(input, { ...SMALL_IMPORT, orders: ['{}'] });
      const { code, error } = await json(...build('json-bad', 'good/none.sqlite'));
      expect(code).to.equal(1);
      expect(error).to.deep.include({ file: input, misnamed: [], rejected: 1 });
      expect(error).to.have.nested.property('problems[0].file', 'orders.ndjson');
    });
  });

  for (const [command, ...words] of [
    ['', 'build', 'verify', 'inspect', '--help'],
    ['build', '--input', '--max-invalid', 'organizations', '.ndjson.gz', 'FILE.rejects.ndjson'],
    ['verify', '<file>', 'before a snapshot goes live'],
    ['inspect', '<file>', 'record counts'],
  ]) {
    it(`prints its usage: ${command} --help`, async () => {
      const stdout = await outputOf(...command.split(' ').filter(Boolean), '--help');
      for (const word of words) expect(stdout).to.include(word);
    });
  }

  for (const parameters of [
    '',
    'rebuild',
    'build --input x',
    'build --input x --output y --fast',
    'build --input x --output y --max-invalid 1',
    'build --input x --output y --skip-invalid --max-invalid few',
    'build --input x --output y --skip-invalid --max-invalid 101%',
    'build --input x --output y --skip-invalid --max-invalid 1.5',
    'verify',
    'verify a b',
  ]) {
    it(`exits with 2 for "${parameters}"`, async () => {
      const { code, stdout, stderr } = await snapshot(...parameters.split(' ').filter(Boolean));
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr)
        .to.match(parameters === '' ? /^Usage: / : /^error: /)
        .and.include('Usage: npm run snapshot -- ');
    });
  }
});

/** Waits until a folder has a file whose name matches. Returns the name. */
function appearance(folder: string, matches: (name: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    const watcher = watch(folder, () => {
      look();
    });
    const look = () => {
      const found = readdirSync(folder).find(matches);
      if (found === undefined) return;
      watcher.close();
      resolve(basename(found));
    };
    look();
  });
}
