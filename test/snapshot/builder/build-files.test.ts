import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { UnreadableImport } from '../../../src/snapshot/builder/import/import-files.ts';
import { describeGroup, ImportRejected } from '../../../src/snapshot/builder/staging/rejections.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { run } from '../../support/command.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { inOrganization, minimalOrder, minimalTicket } from '../../support/records.ts';
import {
  build,
  builtFrom,
  digestsOf,
  type Import,
  organizationOf,
  recordsOf,
  toFile,
  toLine,
  writeImport,
} from '../../support/import-folder.ts';
import { refusalOf } from '../../support/refusal.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';

const organizations = [{ organizationId: 'o' }];
const HUGE_BYTES = 250_000_000;
/** Reports the peak of the resident memory when the main thread exits. `maxRSS` includes that of the parent process. */
const REPORT_PEAK = `import { isMainThread } from 'node:worker_threads';
  import { readFileSync } from 'node:fs';
  if (isMainThread) process.on('exit', () => console.error(readFileSync('/proc/self/status', 'utf8')));`;

describe('The files of an import folder', () => {
  const folder = folderForAll();
  let plain: Record<string, string>;

  before(async () => {
    plain = digestsOf((await builtFrom(folder('plain'), SMALL_IMPORT)).image);
  });

  /** Builds the small import from files that `write` makes. Returns the content digests. */
  async function digestsFrom(name: string, write: (file: string, bytes: Buffer) => void) {
    mkdirSync(folder(name));
    for (const [file, lines] of Object.entries<Import['events']>(SMALL_IMPORT)) {
      write(join(folder(name), `${file}.ndjson`), toFile(lines ?? []));
    }
    await build(folder(name), folder(`${name}.sqlite`));
    return digestsOf(readSnapshot(folder(`${name}.sqlite`)));
  }

  it('may be compressed, also in several gzip members', async () => {
    const compressed = await digestsFrom('gzip', (file, bytes) => {
      const half = bytes.length >> 1;
      writeFileSync(
        `${file}.gz`,
        Buffer.concat([gzipSync(bytes.subarray(0, half)), gzipSync(bytes.subarray(half))]),
      );
    });
    expect(compressed).to.deep.equal(plain);
  });

  it('may have been written on Windows: byte order mark, CRLF, blank lines, no newline at the end', async () => {
    const windows = await digestsFrom('windows', (file, bytes) => {
      const text = bytes.toString().trimEnd().replaceAll('\n', '\r\n\r\n \t\r\n');
      writeFileSync(file, `\ufeff${text}`);
    });
    expect(windows).to.deep.equal(plain);
  });

  it('may be missing or empty except for the organizations', async () => {
    const { report } = await builtFrom(folder('one'), {
      organizations,
      tickets: [],
    });
    expect(report).to.deep.include({
      organizations: 1,
      records: { events: 0, sessions: 0, tickets: 0, orders: 0, offers: 0 },
    });
  });

  it('must hold a valid organization', async () => {
    writeImport(folder('bad'), { organizations: ['{}'] });
    await refusalOf(build(folder('bad'), folder('none.sqlite')), ImportRejected);
    const skipping = build(folder('bad'), folder('none.sqlite'), { skipInvalid: true });
    expect((await refusalOf(skipping, ImportRejected)).message).to.match(
      /^no organization: .*; .* 1 bad line$/,
    );
    expect(readdirSync(folder('.')).filter((name) => name.startsWith('none.sqlite'))).to.deep.equal([]);
  });

  it('may be among other files, which are named in the report unless hidden', async () => {
    writeImport(folder('among'), SMALL_IMPORT);
    const others = ['README.md', 'customers.ndjson', 'seasons.csv', 'tickets.ndjson.bak', 'tickets.sql'];
    for (const other of [...others, '.tickets.csv']) writeFileSync(folder(`among/${other}`), 'not a record');
    const { unread } = await build(folder('among'), folder('beside.sqlite'));
    expect(unread).to.deep.equal(others);
    expect(digestsOf(readSnapshot(folder('beside.sqlite')))).to.deep.equal(plain);
  });

  it('resemble no other entry: such a one is to be renamed or removed', async () => {
    const endings = ['', '.csv', '.gz', '.json', '.jsonl', '.ndjson.bz2', '.ndjson.zip', '_2.ndjson'];
    const others = endings.map((ending) => `tickets${ending}`);
    const misnamed = ['Tickets.NDJSON', 'ticket.ndjson', ...others, 'tikets.ndjson'];
    writeImport(folder('misnamed'), { organizations });
    for (const entry of [...misnamed, 'README.md']) writeFileSync(folder(`misnamed/${entry}`), '');
    for (const skipInvalid of [false, true]) {
      const building = build(folder('misnamed'), folder('misnamed.sqlite'), { skipInvalid });
      const rejected = await refusalOf(building, ImportRejected);
      expect(rejected.message).to.equal('11 entries are misnamed');
      expect(rejected.misnamed.map((line) => line.split(': ')[0])).to.deep.equal(misnamed);
      for (const line of rejected.misnamed)
        expect(line).to.include('did you mean tickets.ndjson or tickets.ndjson.gz');
    }
    expect(readdirSync(folder('.')).filter((name) => name.startsWith('misnamed.'))).to.deep.equal([]);
  });

  it('are checked in the same build under a wrong name, and nothing follows from a file of another form', async () => {
    const { events, sessions, tickets } = SMALL_IMPORT;
    const [ticket] = tickets;
    const rejectionOf = async (name: string, files: Record<string, string | Buffer>) => {
      mkdirSync(folder(name));
      for (const [file, content] of Object.entries(files)) writeFileSync(folder(`${name}/${file}`), content);
      const rejected = await refusalOf(build(folder(name), folder(`${name}.sqlite`)), ImportRejected);
      const { message, misnamed, groups } = rejected;
      return { message, misnamed: misnamed.length, groups: groups.map(describeGroup) };
    };
    const lines = (records: Import['events']) => toFile(records ?? []);
    expect(
      await rejectionOf('names', {
        'organization.JSONL.GZ': gzipSync(lines(SMALL_IMPORT.organizations)),
        'events.json': lines(events),
        'session.ndjson': lines(sessions),
        'ticket.ndjson': lines([{ ...ticket, listPrice: '12' }, tickets[1]]),
        'order.json': JSON.stringify([{ orderId: 'a' }]),
      }),
    ).to.deep.equal({
      message: '5 entries are misnamed; the import contains 2 bad lines',
      misnamed: 5,
      groups: [
        `order.json: the line must be one whole JSON object: split an array with jq -c '.[]', join indented lines with jq -c ., found [{"orderId":"a"}]: line 1`,
        'ticket.ndjson: listPrice must be number or null, found "12": line 1',
      ],
    });
    const { groups } = await rejectionOf('tables', {
      'organizations.csv': 'organizationId',
      'events.ndjson': lines(events),
      'sessions.csv': 'id',
      'tickets.ndjson': lines([{ ...ticket, listPrice: '12' }]),
    });
    expect(groups).to.deep.equal(['tickets.ndjson: listPrice must be number or null, found "12": line 1']);
    const withParts = await rejectionOf('parts', {
      'organizations.ndjson': lines(SMALL_IMPORT.organizations),
      'events.ndjson': lines(events.slice(1)),
      'events_2.ndjson': lines(events.slice(0, 1)),
      'sessions.ndjson': lines(sessions),
    });
    expect(withParts).to.deep.include({ misnamed: 1, groups: [] });
  });

  describe('with many megabytes', () => {
    const COUNT = 20_000;
    const ours = inOrganization('o');
    const padding = (i: number) => 'ä'.repeat((i * 37) % 400);
    // Longer than a block; and as long as a line may be.
    const wide = ours(minimalOrder('wide', { paymentMethod: 'é'.repeat(500_000) }));
    const ignored = 'x'.repeat(15_900_000);
    const tickets = Array.from({ length: COUNT }, (_, i) =>
      ours(minimalTicket(`tkt_${i}`, { offerName: padding(i), qrCode: `qr_${i}` })),
    );

    it('are read once, wherever a line crosses a block boundary', async () => {
      const { image, report } = await builtFrom(folder('large'), {
        organizations,
        tickets,
        orders: [
          ours(minimalOrder('first')),
          wide,
          ours(minimalOrder('last', { ignored })),
          ours(minimalOrder('end')),
        ],
      });
      expect(report.records).to.include({ tickets: COUNT, orders: 4 });
      expect(report.dropped.get('orders.ndjson: ignored')).to.equal(1);
      const found = recordsOf(organizationOf(image, 'o').tickets);
      expect(found.size).to.equal(COUNT);
      for (let i = 0; i < COUNT; i++) {
        const ticket = found.get(`tkt_${i}`);
        if (ticket?.['offerName'] !== padding(i) || ticket['qrCode'] !== `qr_${i}`) expect.fail(`tkt_${i}`);
      }
      const orders = recordsOf(organizationOf(image, 'o').orders);
      expect([...orders.keys()]).to.deep.equal(['end', 'first', 'last', 'wide']);
      expect(String(orders.get('wide')?.['paymentMethod'])).to.have.length(500_000);
    });

    it('have their bad lines reported by number, however far down', async () => {
      const lines = [...tickets.map(toLine), '', toLine(tickets[0]), '{', toLine(tickets[COUNT - 1])];
      const refusal = await refusalOf(
        builtFrom(folder('numbered'), { organizations, tickets: lines }),
        ImportRejected,
      );
      expect(
        refusal.groups.map(({ field, lines, first, found }) => [field, lines, first, found]),
      ).to.deep.equal([
        ['ticketId', 2, COUNT + 2, '"tkt_0" also on line 1'],
        ['', 1, COUNT + 3, '{'],
      ]);
    });

    it('are read beyond a line that is too long', async () => {
      const { report, image } = await builtFrom(
        folder('too-long'),
        {
          organizations,
          orders: [
            ours(minimalOrder('a')),
            ours(minimalOrder('b', { ignored: 'x'.repeat(40_000_000) })),
            ours(minimalOrder('c')),
            ours(minimalOrder('d', { ignored: 'x'.repeat(17_000_000) })),
          ],
        },
        { skipInvalid: true },
      );
      expect(report.rejected).to.equal(2);
      expect([...recordsOf(organizationOf(image, 'o').orders).keys()]).to.deep.equal(['a', 'c']);
    });
  });

  it('may expand to a line of 250 MB, which is rejected in less memory', async () => {
    const input = folder('huge');
    writeImport(input, { ...SMALL_IMPORT, tickets: [] });
    rmSync(join(input, 'tickets.ndjson'));
    const lines = Buffer.concat([toFile(SMALL_IMPORT.tickets.slice(0, 1)), Buffer.alloc(HUGE_BYTES, 'x')]);
    writeFileSync(join(input, 'tickets.ndjson.gz'), gzipSync(lines, { level: 1 }));
    const { code, stderr } = await run(
      'scripts/snapshot.ts',
      ['build', '--input', input, '--output', folder('huge.sqlite')],
      { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT_PEAK)}` },
    );
    expect(code, stderr).to.equal(1);
    expect(stderr).to.include('tickets.ndjson.gz: the line must be at most 16777216 bytes long: line 2\n');
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(stderr) ?? [];
    expect(Number(kilobytes) * 1024, stderr).to.be.below(HUGE_BYTES);
  });

  for (const [fault, write, message] of [
    [
      'truncated compressed data',
      (file) => {
        writeFileSync(`${file}.gz`, gzipSync(toFile(SMALL_IMPORT.tickets)).subarray(0, -20));
      },
      /^tickets\.ndjson\.gz: unexpected end of file/,
    ],
    ['a folder instead of a file', mkdirSync, /^tickets\.ndjson: EISDIR/],
  ] satisfies [fault: string, write: (file: string) => void, message: RegExp][]) {
    it(`make the build fail, with the name of the file, on ${fault}`, async () => {
      writeImport(folder(fault), { organizations: [{ organizationId: 'north' }] });
      write(folder(`${fault}/tickets.ndjson`));
      mkdirSync(folder(`${fault}-output`));
      for (const skipInvalid of [false, true]) {
        const building = build(folder(fault), folder(`${fault}-output/a.sqlite`), { skipInvalid });
        expect((await refusalOf(building, UnreadableImport)).message).to.match(message);
      }
      expect(readdirSync(folder(`${fault}-output`))).to.deep.equal([]);
    });
  }
});
