import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { memoryNeed, plannedMemory } from '../../src/snapshot/admission/memory.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { run } from '../support/command.ts';
import { build, type Import, writeImport } from '../support/import-folder.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { appearance, LARGE_IMPORT, SnapshotCommand } from './snapshot-command.ts';

const BUILD = 'build --output @output/a.sqlite --input';

describe('npm run snapshot', () => {
  const snapshot = new SnapshotCommand();
  const { folder } = snapshot;
  const output = () => folder('output/a.sqlite');
  const importOf = (name: string, changes: Import) => {
    writeImport(folder(name), { ...SMALL_IMPORT, ...changes });
  };

  afterEach(() => {
    for (const name of snapshot.results) rmSync(folder(`output/${name}`));
  });

  before(() => {
    // A copy of the good file with one changed byte.
    const bytes = readFileSync(folder('good.sqlite'));
    bytes[bytes.lastIndexOf('ticketId') + 12] ^= 1;
    writeFileSync(folder('damaged.sqlite'), bytes);

    importOf('deletions', {});
    writeFileSync(folder('deletions/deletions.ndjson'), '');
    importOf('both', {});
    writeFileSync(folder('both/events.ndjson.gz'), gzipSync(''));
    importOf('misnamed', {});
    writeFileSync(folder('misnamed/ticket.csv'), 'ticketId');
    importOf('bad', { tickets: [...SMALL_IMPORT.tickets, '{"organizationId":"north","vat":"1"}', 'x'] });
  });

  describe('build', () => {
    it('reports the counts, the dropped fields and the entries not read on standard output', async () => {
      importOf('report', { tickets: SMALL_IMPORT.tickets.map((ticket) => ({ ...ticket, colour: 'red' })) });
      writeFileSync(folder('report/README.md'), 'An export.');
      const stdout = await snapshot.outputOf(`${BUILD} @report`);
      const { snapshotId, producedAt } = inspectSnapshot(output());
      expect(stdout.replace(/\d\.\d s/, 'N s'))
        .to.match(
          new RegExp(`^${output()}: built in N s\n  snapshot +${snapshotId}\n  produced at +${producedAt}\n`),
        )
        .and.include(
          '\n  organizations    2\n  events           8\n  sessions        20\n  tickets        120\n  orders          18\n  offers          10\n',
        )
        .and.include('\n  not read: README.md\n')
        .and.include('dropped, not in the specification: tickets.ndjson: colour (120 times)');
    });

    it('applies changes to a base, and reports them', async () => {
      const ticket = { ...SMALL_IMPORT.tickets[0], status: 'NEW' };
      const gone = { organizationId: 'south', collection: 'orders' };
      const deletions = ['ord_1', 'none'].map((id) => ({ ...gone, id }));
      writeImport(folder('changes'), { tickets: [ticket], deletions });
      const asOf = new Date().toISOString();
      expect(await snapshot.outputOf(`${BUILD} @changes --base @good.sqlite --as-of ${asOf}`))
        .to.include(`\n  changes to ${folder('good.sqlite')}: 1 replaced, 0 added, 1 deleted\n`)
        .and.include('\n  deletions of records that it does not have: 1\n')
        .and.include('\n  history: 1 records changed, 1 gone; earlier snapshots: 1\n');
      expect(inspectSnapshot(output()).producedAt).to.equal(asOf);
    });

    it('finds the changes of a whole export by the previous snapshot', async () => {
      importOf('next', { tickets: SMALL_IMPORT.tickets.slice(2) });
      expect(await snapshot.outputOf(`${BUILD} @next --previous @good.sqlite --keep-changes 12h`)).to.include(
        '\n  history: 0 records changed, 2 gone; ',
      );
    });

    it('accepts a time in the future with --allow-future', async () => {
      await snapshot.outputOf(`${BUILD} @import --as-of 9999-01-01T00:00:00Z --allow-future`);
      expect(inspectSnapshot(output()).producedAt).to.equal('9999-01-01T00:00:00.000Z');
    });

    it('refuses bad lines by file, field and reason', async () => {
      const problems =
        /^tickets\.ndjson: vat must be number or null, found "1": line 121\n(.*\n)*tickets\.ndjson: the line must be a JSON object, found x: line 122\n/m;
      expect(await snapshot.refusalOf(`${BUILD} @bad`))
        .to.match(problems)
        .and.match(/contains 2 bad lines; no snapshot was written\n$/);
    });

    it('holds organizations back, and names them in warnings and a file', async () => {
      const line = `${BUILD} @bad --previous @good.sqlite --hold-back @output/held`;
      expect(await snapshot.refusalOf(line)).to.include('contains 1 bad line; no snapshot was written\n');
      writeImport(folder('held'), { ...SMALL_IMPORT, tickets: [{ ...SMALL_IMPORT.tickets[0], vat: '1' }] });
      const { code, stderr } = await snapshot.run(line.replace('bad', 'held'));
      const reason = 'tickets.ndjson:1: vat must be number or null, found "1"';
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: `held back: north: ${reason}\n` });
      expect(readFileSync(folder('output/held'), 'utf8')).to.include(`{"organizationId":"north","reason":`);
      rmSync(folder('output/held'));
    });

    it('names the output and its folder when the disk is full, and leaves nothing behind', async () => {
      // Files of 16 kB are not enough for the staging file.
      const { code, stdout, stderr } = await snapshot.start(`${BUILD} @import`, {}, { fileBlocks: 32 }).ended;
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr)
        .to.include(`${output()}: cannot be built: `)
        .and.include(`; check the disk of ${folder('output')}, and that of`)
        .and.not.include('    at ');
      expect(snapshot.results).to.deep.equal([]);
    });

    it('leaves no file behind on SIGINT while it writes the snapshot, and the previous file unchanged', async () => {
      writeImport(folder('large'), LARGE_IMPORT);
      writeFileSync(output(), 'previous file');
      const building = snapshot.start(`${BUILD} @large`);
      const staging = await appearance(folder('output'), '.a.sqlite.building-');
      await appearance(folder(`output/${staging}`), 'snapshot.sqlite');
      building.kill('SIGINT');
      const { code, stdout, stderr } = await building.ended;
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      // A slow build has shown its progress before.
      expect(stderr).to.match(/^(.*\n)*interrupted by SIGINT; no snapshot was written\n$/);
      expect(snapshot.results).to.deep.equal(['a.sqlite']);
      expect(readFileSync(output(), 'utf8')).to.equal('previous file');
    });
  });

  it('build --publish leaves the published file or its successor when it is killed, and the next one no remains', async () => {
    const environment = { SNAPSHOT_DIR: folder('output') };
    const line = 'build --input @large --publish a';
    const [published, hidden] = [output(), '.a.sqlite.building-'];
    await snapshot.outputOf('build --input @import --publish a', environment);
    const { snapshotId } = inspectSnapshot(published);
    writeImport(folder('large'), LARGE_IMPORT);
    const building = snapshot.start(`${line} --allow-shrink`, environment);
    await appearance(folder(`output/${await appearance(folder('output'), hidden)}`), 'snapshot.sqlite');
    building.kill('SIGKILL');
    await building.ended;
    expect(inspectSnapshot(published).snapshotId).to.equal(snapshotId);
    expect(snapshot.results).to.have.length(3);
    const { code, stdout } = await snapshot.start(`${line} --allow-shrink`, environment).ended;
    expect(code).to.equal(0);
    expect(stdout).to.include(`${published}: built and published in `);
    expect(snapshot.results).to.have.members(['.a.lock', 'a.sqlite']);
    expect(inspectSnapshot(published).snapshotId).to.not.equal(snapshotId);
    expect(await snapshot.refusalOf('build --input @import --publish a', environment)).to.match(
      /^\S*a\.sqlite: it has \d+ tickets of organization "north", .*; to remove them, permit it with --allow-shrink; no snapshot was written\n$/,
    );
  });

  it('build --publish writes the changes of what is published, and tidy makes one file of both', async () => {
    const environment = { SNAPSHOT_DIR: folder('output') };
    await snapshot.outputOf('build --input @import --publish a', environment);
    writeImport(folder('changes'), { tickets: [{ ...SMALL_IMPORT.tickets[0], status: 'NEW' }] });
    const { ino, size } = statSync(output());
    const text = await snapshot.outputOf(
      'build --input @changes --base @output/a.sqlite --publish a',
      environment,
    );
    expect(text).to.include(': 1 replaced, 0 added, 0 deleted\n');
    expect(snapshot.results).to.have.members(['.a.lock', 'a.changes', 'a.sqlite']);
    expect(statSync(output())).to.include({ ino, size });
    const { snapshotId } = inspectSnapshot(output());
    expect(await snapshot.outputOf('tidy a --grown', environment)).to.equal('');
    expect(await snapshot.outputOf('tidy a', environment)).to.equal(`${output()}: made whole\n`);
    expect(await snapshot.outputOf('tidy a.sqlite', environment)).to.equal(`${output()}: is whole\n`);
    expect(statSync(output()).ino).to.not.equal(ino);
    expect(inspectSnapshot(output()).snapshotId).to.equal(snapshotId);
    expect(await snapshot.outputOf('verify @output/a.sqlite')).to.include(': sound, checked in ');
    expect(await snapshot.refusalOf('verify @output/a.changes')).to.include(
      'it is a file of changes: name the whole file, beside which it belongs',
    );
    expect(await snapshot.refusalOf('tidy b', environment)).to.match(/b\.sqlite: .*; the changes stay\n$/);
  });

  for (const [line, code, reason] of [
    ['build --input @nowhere --output @output/a', 1, /nowhere: not a folder/],
    ['build --input @import --output @nowhere/a', 1, /nowhere: no such folder for the output/],
    ['build --input @import --output @output', 1, /output: not a regular file/],
    [
      `${BUILD} @both`,
      1,
      /both: events\.ndjson and events\.ndjson\.gz: both exist; .*; no snapshot was written$/m,
    ],
    [
      `${BUILD} @misnamed`,
      1,
      /^ticket\.csv: not an import file; did you mean tickets\.ndjson or .*\n.*misnamed: 1 entry is misnamed; no snapshot was written\n$/,
    ],
    [`${BUILD} @deletions`, 1, /deletions\.ndjson: .*build with --base FILE/],
    [`${BUILD} @output --base @good.sqlite`, 1, /output: contains none of organizations\.ndjson, /],
    [`${BUILD} @import --base @absent`, 1, /absent: no such file/],
    [
      `${BUILD} @import --base @good.sqlite --as-of 2026-01-01T00:00:00Z`,
      1,
      /good\.sqlite: its time, .*, is not before 2026-01-01T00:00:00\.000Z: check --as-of and the clock/,
    ],
    [`${BUILD} @import --as-of 9999-01-01T00:00:00Z`, 2, /must not be in the future/],
    [`${BUILD} @import --as-of today`, 2, /ISO 8601/],
    [`${BUILD} @import --base a --previous b`, 2, /--base and --previous exclude each other/],
    [`${BUILD} @import --keep-changes 1d`, 2, /--keep-changes requires --base or --previous/],
    [`${BUILD} @import --fast`, 2, /unknown option '--fast'/],
    ['build --input x', 2, /specify either --output or --publish/],
    [`${BUILD} @import --publish a`, 2, /specify either --output or --publish/],
    [`${BUILD} @import --allow-shrink`, 2, /--allow-shrink requires --base, --previous or --publish/],
    [`${BUILD} @import --hold-back @nowhere/a`, 1, /nowhere: no such folder for --hold-back/],
    [`${BUILD} @import --base @good.sqlite --hold-back @good.sqlite`, 1, /must name another file/],
    ['build --input @import --publish .a', 2, /"\.a" is not a valid snapshot name: .*, such as north/],
    ...['verify', 'inspect'].flatMap(
      (command) =>
        [
          [`${command} @absent`, 1, /absent: no such file/],
          [`${command} @import/events.ndjson`, 1, /events\.ndjson: it is not an SQLite database/],
          [command, 2, /missing required argument 'file'/],
        ] as const,
    ),
    ['diff @good.sqlite @import/events.ndjson', 1, /events\.ndjson: it is not an SQLite database/],
    ['diff @good.sqlite', 2, /missing required argument 'after'/],
    ['verify @damaged.sqlite', 1, /damaged\.sqlite: the \w+ of organization "\w+" do not match their digest/],
    ['verify a b', 2, /too many arguments/],
    ['rebuild', 2, /unknown command 'rebuild'/],
    ['', 2, /^Usage: /],
  ] as const) {
    it(`refuses "${line}"`, async () => {
      const stderr = await snapshot.refusalOf(line, {}, code);
      expect(stderr).to.match(reason);
      expect(stderr.includes('Usage: npm run snapshot -- ')).to.equal(code === 2);
    });
  }

  it('verify reports a sound file', async () => {
    const { snapshotId, producedAt } = inspectSnapshot(folder('good.sqlite'));
    const stdout = await snapshot.outputOf('verify @good.sqlite');
    expect(
      stdout
        .replace(/\d+\.\d s/, 'N s')
        .replace(/\d+\.\d kB/, 'N kB')
        .split('\n'),
    ).to.deep.equal([
      `${folder('good.sqlite')}: sound, checked in N s`,
      `  snapshot       ${snapshotId}`,
      `  produced at    ${producedAt}`,
      '  size           N kB',
      '  organizations  2',
      '  records        176',
      '',
    ]);
  });

  it('inspect shows the organizations and their counts', async () => {
    const { snapshotId, producedAt } = inspectSnapshot(folder('good.sqlite'));
    const stdout = await snapshot.outputOf('inspect @good.sqlite');
    expect(stdout.replace(/\d+\.\d [kM]B/g, 'N MB').split('\n')).to.deep.equal([
      `${folder('good.sqlite')}: snapshot`,
      `  snapshot     ${snapshotId}`,
      `  produced at  ${producedAt}`,
      '  size         N MB',
      '  memory       data N MB, load N MB, refresh N MB, planned N MB',
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
    const { code, stdout, stderr } = await snapshot.run('inspect @damaged.sqlite');
    expect(code).to.equal(1);
    expect(stdout).to.include('ORGANIZATION');
    expect(stderr).to.match(/damaged\.sqlite: the \w+ of organization "\w+" do not match their digest/);
  });

  describe('with records that look wrong', () => {
    const WARNING = 'warning: tickets: orderId names no order: 1 record, first: tkt_x ("ord_9") of north\n';
    const REFUSED = '--strict refuses records that look wrong';

    before(async () => {
      const ticket = { ...SMALL_IMPORT.tickets[0], ticketId: 'tkt_x', orderId: 'ord_9', qrCode: 'x' };
      importOf('suspect', { tickets: [...SMALL_IMPORT.tickets, ticket] });
      await build(folder('suspect'), folder('suspect.sqlite'));
    });

    for (const line of [`${BUILD} @suspect`, 'verify @suspect.sqlite', 'inspect @suspect.sqlite']) {
      it(`warns on standard error: ${line}`, async () => {
        expect(await snapshot.run(line)).to.include({ code: 0, stderr: WARNING });
      });
    }

    it('refuses them with --strict', async () => {
      expect(await snapshot.refusalOf(`${BUILD} @suspect --strict`)).to.equal(
        `${WARNING}${folder('suspect')}: ${REFUSED}; no snapshot was written\n`,
      );
      const file = folder('suspect.sqlite');
      // The exit status of a process.
      expect(await run('scripts/snapshot.ts', ['verify', '--strict', file])).to.deep.equal({
        code: 1,
        signal: null,
        stdout: '',
        stderr: `${WARNING}${file}: ${REFUSED}\n`,
      });
      await snapshot.outputOf('verify --strict @good.sqlite');
    });
  });

  describe('--json', () => {
    const json = async (line: string) => {
      const { code, stdout, stderr } = await snapshot.run(`${line} --json`);
      // One line, which is one object.
      expect(stdout.split('\n')).to.have.length(2);
      const report: Record<string, unknown> = { code, stderr, ...(JSON.parse(stdout) as object) };
      return report;
    };
    /** Returns what a report has of a file, whose size and time are not compared. */
    const described = (file: string) => {
      const { snapshotId, producedAt } = inspectSnapshot(file);
      return { code: 0, stderr: '', file, snapshotId, producedAt, warnings: [], ...figures };
    };
    const figures = { fileBytes: 0, seconds: 0 };

    it('build reports the counts of records, changes and lines', async () => {
      const report = await json(`${BUILD} @import --previous @good.sqlite`);
      expect({ ...report, ...figures }).to.deep.equal({
        ...described(output()),
        organizations: 2,
        records: { events: 8, sessions: 20, tickets: 120, orders: 18, offers: 10 },
        history: { snapshots: 1, changed: 0, deleted: 0, deletions: 0 },
        dropped: {},
        heldBack: [],
        unread: [],
      });
    });

    it('verify and inspect describe the file', async () => {
      const file = folder('good.sqlite');
      expect({ ...(await json('verify @good.sqlite')), ...figures }).to.deep.equal({
        ...described(file),
        organizations: 2,
        records: 176,
      });
      const inspected = await json('inspect @good.sqlite');
      expect(inspected['fileBytes']).to.equal(statSync(file).size);
      const need = memoryNeed(inspectSnapshot(file).organizations);
      const records = { events: 4, sessions: 10, tickets: 60, orders: 9, offers: 5 };
      expect({ ...inspected, ...figures }).to.deep.equal({
        ...described(file),
        memory: {
          dataBytes: need.held,
          loadBytes: need.peak,
          // Collections below 1 MB share no records.
          refreshBytes: need.peak,
          plannedBytes: plannedMemory([need]),
        },
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
      });
    });

    it('has the reason of a refusal, which is on standard error too', async () => {
      const file = folder('import/events.ndjson');
      const absent = folder('absent');
      const other = { message: `${file}: it is not an SQLite database`, reason: 'not-sqlite' };
      for (const [line, error] of [
        ['verify @import/events.ndjson', { ...other, file }],
        ['inspect @import/events.ndjson', { ...other, file }],
        ['inspect @absent', { message: `${absent}: no such file`, file: absent }],
        ['diff @good.sqlite @import/events.ndjson', other],
      ] as const) {
        expect(await json(line)).to.deep.equal({ code: 1, stderr: `${error.message}\n`, error });
      }
    });

    it('has the groups of bad lines of a refused import', async () => {
      const { code, error } = await json(`${BUILD} @bad`);
      expect(code).to.equal(1);
      expect(error).to.deep.include({ file: folder('bad'), misnamed: [], rejected: 2 });
      expect(error).to.have.nested.property('problems[0].file', 'tickets.ndjson');
    });
  });
});
