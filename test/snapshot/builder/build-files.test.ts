import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { UnreadableImport } from '../../../src/snapshot/builder/import/import-files.ts';
import { describeGroup, ImportRejected } from '../../../src/snapshot/builder/staging/rejections.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { run } from '../../support/command.ts';
import { inOrganization, minimalOrder, minimalTicket } from '../../support/records.ts';
import {
  build,
  digestsOf,
  type Import,
  organizationOf,
  recordsOf,
  toFile,
  writeImport,
} from '../../support/import-folder.ts';
import { refusalOf } from '../../support/refusal.ts';
import { Builds } from '../builds.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';

const organizations = [{ organizationId: 'o' }];
const HUGE_BYTES = 300_000_000;
/** Reports the peak of the resident memory when the main thread exits. `maxRSS` includes that of the parent process. */
const REPORT_PEAK = `import { isMainThread } from 'node:worker_threads';
  import { readFileSync } from 'node:fs';
  if (isMainThread) process.on('exit', () => console.error(readFileSync('/proc/self/status', 'utf8')));`;

type FileContent = readonly [name: string, content: string | Buffer];

describe('The files of an import folder', () => {
  const { inFolder, build: built } = new Builds();
  let plain: Record<string, string>;

  before(async () => {
    plain = digestsOf((await built(SMALL_IMPORT)).image);
  });

  /** Builds a snapshot of a folder with these files. */
  function buildFrom(name: string, files: readonly FileContent[], skipInvalid = false) {
    mkdirSync(inFolder(name), { recursive: true });
    for (const [file, content] of files) writeFileSync(inFolder(`${name}/${file}`), content);
    return build(inFolder(name), inFolder(`${name}.sqlite`), { skipInvalid });
  }
  const outputs = (name: string) => readdirSync(inFolder('.')).filter((file) => file.startsWith(`${name}.`));

  const FILES = Object.entries<Import['events']>(SMALL_IMPORT).map(
    ([name, lines = []]) => [`${name}.ndjson`, toFile(lines)] as const,
  );
  const OTHERS = ['README.md', 'customers.ndjson', 'seasons.csv', 'tickets.ndjson.bak', 'tickets.sql'];
  for (const [what, files, unread] of [
    [
      'compressed, also in several gzip members',
      FILES.map(([name, bytes]) => {
        const half = bytes.length >> 1;
        return [
          `${name}.gz`,
          Buffer.concat([bytes.subarray(0, half), bytes.subarray(half)].map((part) => gzipSync(part))),
        ];
      }),
      [],
    ],
    [
      'written on Windows: byte order mark, CRLF, blank lines, no newline at the end',
      FILES.map(([name, bytes]) => {
        const text = bytes.toString().trimEnd().replaceAll('\n', '\r\n\r\n \t\r\n');
        return [name, `\ufeff${text}`];
      }),
      [],
    ],
    [
      'among other files, which are named in the report unless hidden',
      [...FILES, ...[...OTHERS, '.tickets.csv'].map((name): FileContent => [name, 'not a record'])],
      OTHERS,
    ],
  ] satisfies [string, FileContent[], string[]][]) {
    it(`may be ${what}`, async () => {
      const report = await buildFrom(what, files);
      expect(digestsOf(readSnapshot(inFolder(`${what}.sqlite`)))).to.deep.equal(plain);
      expect(report.unread).to.deep.equal(unread);
    });
  }

  it('may be missing or empty except for the organizations', async () => {
    const { report } = await built({ organizations, tickets: [] });
    expect(report).to.deep.include({
      organizations: 1,
      records: { events: 0, sessions: 0, tickets: 0, orders: 0, offers: 0 },
    });
  });

  it('must hold a valid organization', async () => {
    const files: FileContent[] = [['organizations.ndjson', '{}']];
    await refusalOf(buildFrom('bad', files), ImportRejected);
    const { message } = await refusalOf(buildFrom('bad', files, true), ImportRejected);
    expect(message).to.match(/^no organization: .*; .* 1 bad line$/);
    expect(outputs('bad')).to.deep.equal([]);
  });

  it('resemble no other entry: such a one is to be renamed or removed', async () => {
    const endings = ['', '.csv', '.gz', '.json', '.jsonl', '.ndjson.bz2', '.ndjson.zip', '_2.ndjson'];
    const misnamed = [
      'Tickets.NDJSON',
      'ticket.ndjson',
      ...endings.map((ending) => `tickets${ending}`),
      'tikets.ndjson',
    ];
    const files = [...misnamed, 'README.md'].map((name): FileContent => [name, '']);
    files.push(['organizations.ndjson', toFile(organizations)]);
    for (const skipInvalid of [false, true]) {
      const building = buildFrom('misnamed', files, skipInvalid);
      const rejected = await refusalOf(building, ImportRejected);
      expect(rejected.message).to.equal('11 entries are misnamed');
      expect(rejected.misnamed.map((line) => line.split(': ')[0])).to.deep.equal(misnamed);
      for (const line of rejected.misnamed)
        expect(line).to.include('did you mean tickets.ndjson or tickets.ndjson.gz');
    }
    expect(outputs('misnamed')).to.deep.equal([]);
  });

  const { events, sessions, tickets } = SMALL_IMPORT;
  const badTickets = toFile([{ ...tickets[0], listPrice: '12' }, tickets[1]]);
  const badPrice = 'listPrice must be number or null, found "12": line 1';
  for (const [what, files, message, ...groups] of [
    [
      'are checked in the same build under a wrong name',
      {
        'organization.JSONL.GZ': gzipSync(toFile(SMALL_IMPORT.organizations)),
        'events.json': toFile(events),
        'session.ndjson': toFile(sessions),
        'ticket.ndjson': badTickets,
        'order.json': JSON.stringify([{ orderId: 'a' }]),
      },
      '5 entries are misnamed; the import contains 2 bad lines',
      `order.json: the line must be one whole JSON object: split an array with jq -c '.[]', join indented lines with jq -c ., found [{"orderId":"a"}]: line 1`,
      `ticket.ndjson: ${badPrice}`,
    ],
    [
      'are not missed by those that refer to them under a wrong name and in another form',
      {
        'organizations.csv': 'organizationId',
        'events.ndjson': toFile(events),
        'sessions.csv': 'id',
        'tickets.ndjson': badTickets,
      },
      '2 entries are misnamed; the import contains 10 bad lines, 9 of them only because of others',
      `tickets.ndjson: ${badPrice}`,
    ],
    [
      'are not missed by those that refer to them in parts',
      {
        'organizations.ndjson': toFile(SMALL_IMPORT.organizations),
        'events.ndjson': toFile(events.slice(1)),
        'events_2.ndjson': toFile(events.slice(0, 1)),
        'sessions.ndjson': toFile(sessions),
      },
      '1 entry is misnamed; the import contains 3 bad lines, 3 of them only because of others',
    ],
  ] satisfies [string, Record<string, string | Buffer>, ...string[]][]) {
    it(what, async () => {
      const rejected = await refusalOf(buildFrom(what, Object.entries(files)), ImportRejected);
      expect(rejected.message).to.equal(message);
      expect(rejected.groups.map(describeGroup)).to.deep.equal(groups);
    });
  }

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
      const { image, report } = await built({
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

    it('are read beyond a line that is too long', async () => {
      const orders = [0, 40_000_000, 0, 17_000_000].map((length, i) =>
        ours(minimalOrder(`${i}`, { ignored: 'x'.repeat(length) })),
      );
      const { report, image } = await built({ organizations, orders }, { skipInvalid: true });
      expect(report.rejected).to.equal(2);
      expect([...recordsOf(organizationOf(image, 'o').orders).keys()]).to.deep.equal(['0', '2']);
    });
  });

  it('may expand to a line of 300 MB, which is rejected in less memory', async () => {
    const line = Buffer.concat([toFile(tickets.slice(0, 1)), Buffer.alloc(HUGE_BYTES, 'x')]);
    const input = inFolder('huge');
    writeImport(input, { organizations: SMALL_IMPORT.organizations });
    writeFileSync(join(input, 'tickets.ndjson.gz'), gzipSync(line, { level: 1 }));
    const { code, stderr } = await run(
      'scripts/snapshot.ts',
      ['build', '--input', input, '--output', inFolder('huge.sqlite')],
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
        writeFileSync(`${file}.gz`, gzipSync(toFile(tickets)).subarray(0, -20));
      },
      /^tickets\.ndjson\.gz: unexpected end of file/,
    ],
    ['a folder instead of a file', mkdirSync, /^tickets\.ndjson: EISDIR/],
  ] satisfies [fault: string, write: (file: string) => void, message: RegExp][]) {
    it(`make the build fail, with the name of the file, on ${fault}`, async () => {
      writeImport(inFolder(fault), { organizations: [{ organizationId: 'north' }] });
      write(inFolder(`${fault}/tickets.ndjson`));
      for (const skipInvalid of [false, true]) {
        const { message: found } = await refusalOf(buildFrom(fault, [], skipInvalid), UnreadableImport);
        expect(found).to.match(message);
      }
      expect(outputs(fault)).to.deep.equal([]);
    });
  }
});
