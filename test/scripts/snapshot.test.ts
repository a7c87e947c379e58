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

describe('npm run snapshot', () => {
  const folder = folderForAll();
  const good = () => folder('good/a.sqlite');

  before(async () => {
    writeImport(folder('import'), SMALL_IMPORT);
    mkdirSync(folder('good'));
    const { code } = await run(SCRIPT, ['build', '--input', folder('import'), '--output', good()]);
    expect(code).to.equal(0);
  });

  describe('build', () => {
    it('reports the counts, the dropped fields and the entries not read on standard output', async () => {
      const tickets = SMALL_IMPORT.tickets.map((ticket) => ({ ...ticket, colour: 'red' }));
      writeImport(folder('report'), { ...SMALL_IMPORT, tickets });
      writeFileSync(folder('report/README.md'), 'An export.');
      const output = folder('good/report.sqlite');
      const { code, stdout, stderr } = await snapshot(
        'build',
        '--input',
        folder('report'),
        '--output',
        output,
      );
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const { snapshotId, producedAt } = inspectSnapshot(output);
      expect(stdout)
        .to.match(
          new RegExp(
            `^${output}: built in \\d\\.\\d s\n  snapshot +${snapshotId}\n  produced at +${producedAt}\n`,
          ),
        )
        .and.include(
          '\n  organizations    2\n  events           8\n  sessions        20\n  tickets        120\n  orders          18\n  offers          10\n',
        )
        .and.include('\n  not read: README.md\n')
        .and.include('dropped, not in the specification: tickets.ndjson: colour (120 times)');
    });

    it('refuses bad lines, in groups by file, field and reason on standard error, and writes no output', async () => {
      const orders = SMALL_IMPORT.orders.map((order) => ({
        ...order,
        placedItems: [{}, { quantity: 'two' }],
      }));
      writeImport(folder('bad'), { ...SMALL_IMPORT, orders: [] });
      writeFileSync(folder('bad/orders.ndjson.gz'), gzipSync(toFile([...orders, ...orders])));
      rmSync(folder('bad/orders.ndjson'));
      mkdirSync(folder('bad-output'));
      const output = folder('bad-output/a.sqlite');
      const { code, stdout, stderr } = await snapshot('build', '--input', folder('bad'), '--output', output);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      const lines = stderr.trimEnd().split('\n');
      expect(lines.slice(0, -1)).to.deep.equal([
        'orders.ndjson.gz: placedItems[].quantity must be integer or null, found "two": 36 lines, first: 1',
        'orders.ndjson.gz: orderId must be unique, found "ord_0" also on line 1: 18 lines, first: 19',
      ]);
      expect(lines.at(-1))
        .to.include('contains 36 bad lines; no snapshot was written')
        .and.include('--skip-invalid');
      expect(readdirSync(folder('bad-output'))).to.deep.equal([]);
    });

    it('tells all mistakes of an export of foreign shape in one run, so that the next one succeeds', async () => {
      const { organizations, events, sessions, tickets, orders, offers } = SMALL_IMPORT;
      mkdirSync(folder('foreign'));
      for (const [file, content] of Object.entries({
        'organization.json': JSON.stringify(organizations),
        'events.jsonl': toFile(events.map((event) => ({ ...event, createdAt: '2026-09-01 20:00' }))),
        'sessions.csv': `id,startAt\n${String(sessions[0]['id'])},2026-09-01`,
        'Tickets.ndjson': toFile(
          tickets.map(({ orderId, ...others }) => ({ ...others, orderID: orderId, listPrice: '9.50' })),
        ),
        'orders.ndjson': toFile(orders.map((order) => ({ ...order, status: 'paid' }))),
        'offers.ndjson': toFile(
          offers.map((offer) => ({ ...offer, type: String(offer['type']).toLowerCase(), createdAt: 1 })),
        ),
      }))
        writeFileSync(folder(`foreign/${file}`), content);
      const built = (input: string) =>
        snapshot('build', '--input', folder(input), '--output', folder('good/mended.sqlite'));
      const { stderr } = await built('foreign');
      expect(stderr.replace(/(?:, found|;| such as|: split).*/g, '').split('\n')).to.deep.equal([
        'Tickets.ndjson: not an import file',
        'events.jsonl: not an import file',
        'organization.json: not an import file',
        'sessions.csv: not an import file',
        'Tickets.ndjson: orderId is missing: 120 lines, first: 1',
        'Tickets.ndjson: listPrice must be number or null',
        'organization.json: the line must be one whole JSON object',
        'events.jsonl: createdAt must be an ISO 8601 date and time with Z or an offset,',
        'orders.ndjson: status must be one of PENDING, FULFILLED, CANCELLED',
        'offers.ndjson: type must be one of TICKET, PRODUCT, BUNDLE',
        'offers.ndjson: createdAt must be an ISO 8601 date and time with Z or an offset,',
        `${folder('foreign')}: 4 entries are misnamed`,
        '',
      ]);
      // Mended, it is the small import.
      expect(await built('import')).to.include({ code: 0, stderr: '' });
    });

    it('prints all groups of bad lines', async () => {
      const fields = Object.keys(FULL_TICKET).filter((name) => name !== 'cancelledAt');
      const ticket = Object.fromEntries(fields.map((name) => [name, ['wrong']]));
      writeImport(folder('groups'), { ...SMALL_IMPORT, tickets: [ticket] });
      const output = folder('bad-output/a.sqlite');
      const { stderr } = await snapshot('build', '--input', folder('groups'), '--output', output);
      const lines = stderr.trimEnd().split('\n');
      // All fields but `cancelledAt`, the organization, which is missing, and the summary.
      expect(lines).to.have.length(fields.length + 2);
      for (const line of lines.slice(1, -1))
        expect(line).to.match(/^tickets\.ndjson: \w+ must be .*, found \["wrong"\]: line 1$/);
    });

    it('applies changes to a base, and reports them', async () => {
      const output = folder('good/changed.sqlite');
      writeImport(folder('changes'), { tickets: [{ ...SMALL_IMPORT.tickets[0], status: 'NEW' }] });
      const gone = { organizationId: 'south', collection: 'orders' };
      writeFileSync(
        folder('changes/deletions.ndjson'),
        toFile([
          { ...gone, id: 'ord_1' },
          { ...gone, id: 'none' },
        ]),
      );
      const asOf = new Date().toISOString();
      const words = ['--base', good(), '--input', folder('changes'), '--output', output, '--as-of', asOf];
      const { code, stdout, stderr } = await run(SCRIPT, ['build', ...words]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout)
        .to.include(`\n  changes to ${good()}: 1 replaced, 0 added, 1 deleted\n`)
        .and.include('\n  deletions of records that it does not have: 1\n')
        .and.include('\n  history: 1 records changed, 1 gone; earlier snapshots: 1\n')
        .and.match(/\n {2}runs: \d+ copied, \d+ written\n/);
      expect(inspectSnapshot(output).producedAt).to.equal(asOf);
    });

    it('finds the changes of a whole export by the previous snapshot', async () => {
      const output = folder('good/next.sqlite');
      writeImport(folder('next'), { ...SMALL_IMPORT, tickets: SMALL_IMPORT.tickets.slice(2) });
      const build = (...more: string[]) =>
        snapshot('build', '--input', folder('next'), '--output', output, '--previous', good(), ...more);
      expect((await build('--keep-changes', '12h')).stdout).to.include(
        '\n  history: 0 records changed, 2 gone; ',
      );
      const { code, stderr } = await build('--base', good());
      expect(`${code}: ${stderr}`).to.include('2: error: --base and --previous exclude each other');
    });

    it('refuses a base that is later or no snapshot, deletions without a base, and a time in the future', async () => {
      const words = ['--input', folder('import'), '--output', folder('good/none.sqlite')];
      const refusal = async (...more: string[]) => {
        const { code, stderr } = await snapshot('build', ...words, ...more);
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
      const words = ['--input', folder('import'), '--output', output, '--as-of', asOf, '--allow-future'];
      expect(await snapshot('build', ...words)).to.include({ code: 0, stderr: '' });
      expect(inspectSnapshot(output).producedAt).to.equal(asOf);
      rmSync(output);
    });

    it('names the output and its folder when the disk is full, and leaves nothing behind', async () => {
      const words = ['--input', folder('import'), '--output', folder('full/a.sqlite')];
      mkdirSync(folder('full'));
      // Files of 16 kB are not enough for the staging file.
      const command = new Command(
        SCRIPT,
        ['build', ...words],
        { NODE_DISABLE_COMPILE_CACHE: '1' },
        { fileBlocks: 32 },
      );
      const { code, stdout, stderr } = await command.ended;
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr)
        .to.include(`${folder('full/a.sqlite')}: cannot be built: `)
        .and.include(`; check the disk of ${folder('full')}, and that of`)
        .and.not.include('    at ');
      expect(readdirSync(folder('full'))).to.deep.equal([]);
    });

    it('omits bad lines with --skip-invalid, and names the file that has them', async () => {
      const known = { eventId: 'evt_0', eventSessionId: 'ses_0', orderId: 'ord_0' };
      const tickets = times(200, (i) =>
        inOrganization('north')(minimalTicket(`t${i}`, { ...known, qrCode: `${i}` })),
      );
      writeImport(folder('skip'), { ...SMALL_IMPORT, tickets: [...tickets, '{}', 'x'] });
      mkdirSync(folder('skip-output'));
      const output = folder('skip-output/a.sqlite');
      const { code, stdout, stderr } = await snapshot(
        'build',
        '--skip-invalid',
        `--input=${folder('skip')}`,
        `--output=${output}`,
      );
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.include(`omitted: 2 bad lines, see ${output}.rejects.ndjson`);
      expect(readdirSync(folder('skip-output'))).to.deep.equal(['a.sqlite', 'a.sqlite.rejects.ndjson']);
      expect(readFileSync(`${output}.rejects.ndjson`, 'utf8').split('\n')).to.have.length(3);
    });

    it('fails with --skip-invalid when more than 1 % of the lines are bad, unless --max-invalid permits more', async () => {
      writeImport(folder('many'), { ...SMALL_IMPORT, tickets: [...SMALL_IMPORT.tickets, '{}', 'x'] });
      mkdirSync(folder('many-output'));
      const output = folder('many-output/a.sqlite');
      const parameters = ['build', '--skip-invalid', `--input=${folder('many')}`, `--output=${output}`];
      for (const limit of [[], ['--max-invalid=1'], ['--max-invalid', '0.9%']]) {
        const { code, stdout, stderr } = await snapshot(...parameters, ...limit);
        expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
        expect(stderr)
          .to.match(/^tickets\.ndjson: organizationId is missing: line 121\n/)
          .and.include('contains 2 bad lines, of 180 read; at most 1 may be omitted; no snapshot was written')
          .and.include('--max-invalid');
        expect(readdirSync(folder('many-output'))).to.deep.equal([]);
      }
      for (const limit of ['2', '1.2%']) {
        const { code, stderr } = await snapshot(...parameters, '--max-invalid', limit);
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      }
    });

    for (const [fault, input, output, reason] of [
      ['an absent import folder', 'nowhere', 'good/b.sqlite', /nowhere: not a folder/],
      ['a file as import folder', 'import/events.ndjson', 'good/b.sqlite', /events\.ndjson: not a folder/],
      [
        'a folder without any import file',
        'empty',
        'good/b.sqlite',
        /empty: no organization: organizations\.ndjson must have a line for each organization; no snapshot was written/,
      ],
      [
        'a file in both compressed and plain form',
        'both',
        'good/b.sqlite',
        /both: events\.ndjson and events\.ndjson\.gz: both exist/,
      ],
      [
        'an invalid compressed file',
        'fake',
        'good/b.sqlite',
        /fake: tickets\.ndjson\.gz: incorrect header check; no snapshot was written/,
      ],
      [
        'a misnamed file',
        'misnamed',
        'good/b.sqlite',
        /^ticket\.csv: not an import file; did you mean tickets\.ndjson or .*\n.*misnamed: 1 entry is misnamed; no snapshot was written\n$/,
      ],
      [
        'an import without an organization',
        'no-organization',
        'good/b.sqlite',
        /no-organization: no organization: organizations\.ndjson must have a line for each organization; the import contains (\d+) bad lines, \1 of them only because of others; no snapshot was written\n$/,
      ],
      ['an absent output folder', 'import', 'nowhere/b.sqlite', /nowhere: no such folder for the output/],
      ['a folder as output', 'import', 'good', /good: not a regular file/],
    ] as const) {
      it(`refuses ${fault}`, async () => {
        mkdirSync(folder('empty'), { recursive: true });
        writeImport(folder('both'), { events: [] });
        writeFileSync(folder('both/events.ndjson.gz'), gzipSync(''));
        writeImport(folder('fake'), { organizations: [{ organizationId: 'north' }] });
        writeImport(folder('no-organization'), { events: SMALL_IMPORT.events });
        writeFileSync(folder('fake/tickets.ndjson.gz'), 'no');
        writeImport(folder('misnamed'), SMALL_IMPORT);
        writeFileSync(folder('misnamed/ticket.csv'), 'ticketId');
        const { code, stdout, stderr } = await snapshot(
          'build',
          '--input',
          folder(input),
          '--output',
          folder(output),
        );
        expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
        expect(stderr).to.match(reason).and.not.include('    at ');
        expect(readdirSync(folder('good')).filter((name) => name.startsWith('b'))).to.deep.equal([]);
      });
    }

    for (const [signal, file] of [
      ['SIGINT', 'staging.sqlite'],
      ['SIGTERM', 'snapshot.sqlite'],
    ] as const) {
      it(`leaves no file behind on ${signal} after ${file} appears, and the previous file unchanged`, async () => {
        const tickets = Array.from({ length: 60_000 }, (_, i) =>
          inOrganization('north')(minimalTicket(`t${i}`)),
        );
        writeImport(folder('large'), { ...SMALL_IMPORT, tickets });
        mkdirSync(folder(signal));
        const output = folder(`${signal}/a.sqlite`);
        writeFileSync(output, 'previous file');
        const appeared = appearance(folder(signal), (name) => name.startsWith('a.sqlite.building-'));
        const command = new Command(SCRIPT, ['build', '--input', folder('large'), '--output', output], {});
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

  describe('verify', () => {
    it('reports a sound file', async () => {
      const { code, stdout, stderr } = await snapshot('verify', good());
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
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

    it('refuses a damaged file with the reason', async () => {
      const path = folder('good/damaged.sqlite');
      const bytes = readFileSync(good());
      bytes[bytes.lastIndexOf('ticketId') + 12] ^= 1;
      writeFileSync(path, bytes);
      const { code, stdout, stderr } = await snapshot('verify', path);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.match(
        new RegExp(`^${path}: the content of organization "\\w+" does not match its digest`),
      );
    });
  });

  describe('inspect', () => {
    it('shows the organizations and their counts', async () => {
      const { code, stdout, stderr } = await snapshot('inspect', good());
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
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
  });

  describe('with records that look wrong', () => {
    const suspect = () => folder('good/suspect.sqlite');
    const WARNING = 'warning: tickets: orderId names no order: 1 record, first: tkt_x ("ord_9") of north\n';

    before(async () => {
      const ticket = inOrganization('north')(
        minimalTicket('tkt_x', { eventId: 'evt_0', eventSessionId: 'ses_0', orderId: 'ord_9', qrCode: 'x' }),
      );
      writeImport(folder('suspect'), { ...SMALL_IMPORT, tickets: [...SMALL_IMPORT.tickets, ticket] });
      const built = await snapshot('build', '--input', folder('suspect'), '--output', suspect());
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
      const output = folder('good/strict.sqlite');
      const words = ['build', '--strict', '--input', folder('suspect'), '--output', output];
      expect(await snapshot(...words)).to.deep.equal({
        code: 1,
        stdout: '',
        stderr: `${WARNING}${folder('suspect')}: --strict refuses records that look wrong; no snapshot was written\n`,
      });
      expect(existsSync(output)).to.equal(false);
    });

    it('verify --strict refuses them', async () => {
      expect(await run(SCRIPT, ['verify', '--strict', suspect()])).to.deep.equal({
        code: 1,
        signal: null,
        stdout: '',
        stderr: `${WARNING}${suspect()}: --strict refuses records that look wrong\n`,
      });
      expect(await snapshot('verify', '--strict', good())).to.include({ code: 0, stderr: '' });
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
      const words = ['build', '--input', folder('import'), '--output', output, '--previous', good()];
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
      for (const words of [
        ['verify', file],
        ['inspect', file],
      ]) {
        expect(await json(...words)).to.deep.equal({
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
      const { code, error } = await json('build', '--input', input, '--output', folder('good/none.sqlite'));
      expect(code).to.equal(1);
      expect(error).to.deep.include({ file: input, misnamed: [], rejected: 1 });
      expect(error).to.have.nested.property('problems[0].file', 'orders.ndjson');
    });
  });

  it('inspect refuses damaged records, after it has shown the counts', async () => {
    const path = folder('good/damaged-records.sqlite');
    const bytes = readFileSync(good());
    bytes[bytes.lastIndexOf('ticketId') + 12] ^= 1;
    writeFileSync(path, bytes);
    const { code, stdout, stderr } = await snapshot('inspect', path);
    expect(code).to.equal(1);
    expect(stdout).to.include('ORGANIZATION');
    expect(stderr).to.match(
      new RegExp(`^${path}: the content of organization "\\w+" does not match its digest`),
    );
  });

  for (const command of ['verify', 'inspect']) {
    it(`${command} refuses any other file, with its name and the reason`, async () => {
      const cut = folder(`good/${command}-cut.sqlite`);
      writeFileSync(cut, readFileSync(good()));
      truncateSync(cut, 50_000);
      for (const [file, reason] of [
        [folder('nowhere.sqlite'), 'no such file'],
        [folder('good'), 'it is not a regular file'],
        [folder('import/events.ndjson'), 'it is not an SQLite database'],
        [cut, 'it is truncated'],
      ]) {
        const { code, stdout, stderr } = await snapshot(command, file);
        expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
        expect(stderr).to.include(`${file}: `).and.include(reason).and.not.include('    at ');
      }
    });
  }

  for (const [command, ...words] of [
    ['', 'build', 'verify', 'inspect', '--help'],
    [
      'build',
      '--input',
      '--output',
      '--skip-invalid',
      '--max-invalid',
      'organizations',
      '.ndjson.gz',
      'FILE.rejects.ndjson',
    ],
    ['verify', '<file>', 'before a snapshot goes live'],
    ['inspect', '<file>', 'record counts'],
  ]) {
    it(`prints its usage: ${command} --help`, async () => {
      const { code, stdout, stderr } = await snapshot(...command.split(' ').filter(Boolean), '--help');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
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
