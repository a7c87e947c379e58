import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { UnreadableImport } from '../../../src/snapshot/builder/import/import-files.ts';
import { run } from '../../support/command.ts';
import { recordsIn, times } from '../../support/records.ts';
import {
  digestsOf,
  type Files,
  organizationOf,
  recordsOf,
  toFile,
  writeImport,
} from '../../support/import-folder.ts';
import { Builds } from '../builds.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';

const organizations = [{ organizationId: 'o' }];
const HUGE_BYTES = 500_000_000;
/** Reports the peak of the resident memory when the main thread exits. `maxRSS` includes that of the parent process. */
const REPORT_PEAK = `import { isMainThread } from 'node:worker_threads';
  import { readFileSync } from 'node:fs';
  if (isMainThread) process.on('exit', () => console.error(readFileSync('/proc/self/status', 'utf8')));`;

describe('The files of an import folder', () => {
  const { inFolder, build: built, errorOf, rejectionOf } = new Builds();

  const parts = (bytes: Buffer) => [bytes.subarray(0, 99), bytes.subarray(99)];
  for (const [what, ending, change] of [
    [
      'compressed, also in several gzip members',
      'ndjson.gz',
      (bytes) => Buffer.concat(parts(bytes).map((part) => gzipSync(part))),
    ],
    [
      'written on Windows: byte order mark, CRLF, blank lines, no newline at the end',
      'ndjson',
      (bytes) => `\ufeff${bytes.toString().trimEnd().replaceAll('\n', '\r\n\r\n \t\r\n')}`,
    ],
  ] satisfies [string, string, (bytes: Buffer) => string | Buffer][]) {
    it(`may be ${what}`, async () => {
      const changed = Object.entries(SMALL_IMPORT).map(
        ([name, lines]) => [`${name}.${ending}`, change(toFile(lines))] as const,
      );
      const { image } = await built(Object.fromEntries(changed));
      expect(digestsOf(image)).to.deep.equal(digestsOf((await built(SMALL_IMPORT)).image));
    });
  }

  it('may be among other files, which are named in the report unless hidden', async () => {
    const others = ['README.md', 'customers.ndjson', 'seasons.csv', 'tickets.ndjson.bak', 'tickets.sql'];
    const entries = [...others, '.tickets.csv'].map((name) => [name, 'not a record'] as const);
    const { report } = await built({ ...SMALL_IMPORT, ...Object.fromEntries(entries) });
    expect(report.unread).to.deep.equal(others);
    expect(report.records).to.include({ events: 8, tickets: 120 });
  });

  const { events, sessions, tickets } = SMALL_IMPORT;
  const badTickets = toFile([{ ...tickets[0], listPrice: '12' }, tickets[1]]);
  const badPrice = 'listPrice must be number or null, found "12": line 1';
  for (const [what, files, message, ...groups] of [
    [
      'must hold a valid organization',
      { organizations: ['{}'] },
      'the import contains 1 bad line',
      'organizations.ndjson: organizationId is missing: line 1',
    ],
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
      { 'organizations.csv': 'organizationId', events, 'sessions.csv': 'id', 'tickets.ndjson': badTickets },
      '2 entries are misnamed; the import contains 10 bad lines, 9 of them only because of others',
      `tickets.ndjson: ${badPrice}`,
    ],
    [
      'are not missed by those that refer to them in parts',
      {
        ...SMALL_IMPORT,
        tickets: [],
        events: events.slice(1),
        'events_2.ndjson': toFile(events.slice(0, 1)),
      },
      '1 entry is misnamed; the import contains 3 bad lines, 3 of them only because of others',
    ],
  ] satisfies [string, Files, ...string[]][]) {
    it(what, async () => {
      expect(await rejectionOf(files)).to.deep.include({ message, groups });
    });
  }

  it('resemble no other entry: such a one is to be renamed or removed', async () => {
    const endings = ['', '.csv', '.gz', '.json', '.jsonl', '.ndjson.bz2', '.ndjson.zip', '_2.ndjson'];
    const misnamed = [
      'Tickets.NDJSON',
      'ticket.ndjson',
      ...endings.map((ending) => `tickets${ending}`),
      'tikets.ndjson',
    ];
    const entries = Object.fromEntries([...misnamed, 'README.md'].map((name) => [name, '']));
    const rejection = await rejectionOf({ organizations, ...entries });
    expect(rejection.message).to.equal('11 entries are misnamed');
    expect(rejection.misnamed.map((line) => line.split(': ')[0])).to.deep.equal(misnamed);
    for (const line of rejection.misnamed)
      expect(line).to.include('did you mean tickets.ndjson or tickets.ndjson.gz');
  });

  describe('with many megabytes', () => {
    const COUNT = 20_000;
    const { order, ticket } = recordsIn('o');
    const padding = (i: number) => 'ä'.repeat((i * 37) % 400);
    // Longer than a block; and as long as a line may be.
    const wide = order('wide', { paymentMethod: 'é'.repeat(500_000) });
    const ignored = 'x'.repeat(15_900_000);
    const tickets = times(COUNT, (i) => ticket(`tkt_${i}`, { offerName: padding(i), qrCode: `qr_${i}` }));

    it('are read once, wherever a line crosses a block boundary', async () => {
      const { image, report } = await built({
        organizations,
        tickets,
        orders: [order('first'), wide, order('last', { ignored }), order('end')],
      });
      expect(report.records).to.include({ tickets: COUNT, orders: 4 });
      expect(report.dropped.get('orders.ndjson: ignored')).to.equal(1);
      const found = recordsOf(organizationOf(image, 'o').tickets);
      expect(found.size).to.equal(COUNT);
      const isKept = times(COUNT, (i) => {
        const kept = found.get(`tkt_${i}`);
        return kept?.['offerName'] === padding(i) && kept['qrCode'] === `qr_${i}`;
      });
      expect(isKept.indexOf(false)).to.equal(-1);
      const orders = recordsOf(organizationOf(image, 'o').orders);
      expect([...orders.keys()]).to.deep.equal(['end', 'first', 'last', 'wide']);
      expect(String(orders.get('wide')?.['paymentMethod'])).to.have.length(500_000);
    });

    it('are read beyond a line that is too long', async () => {
      const orders = [0, 40_000_000, 0, 17_000_000].map((length, i) =>
        order(`${i}`, { ignored: 'x'.repeat(length) }),
      );
      expect((await rejectionOf({ organizations, orders: [...orders, 'x'] })).groups).to.deep.equal([
        'orders.ndjson: the line must be at most 16777216 bytes long: 2 lines, first: 2',
        'orders.ndjson: the line must be a JSON object, found x: line 5',
      ]);
    });
  });

  it('may expand to a line of 500 MB, which is rejected in less memory', async () => {
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

  it('make the build fail, with the name of the file, when one cannot be read to its end', async () => {
    const cut = { organizations, 'tickets.ndjson.gz': gzipSync(toFile(tickets)).subarray(0, -20) };
    const error = await errorOf(UnreadableImport, cut);
    expect(error.message).to.match(/^tickets\.ndjson\.gz: unexpected end of file/);
    const bytes = gzipSync(toFile(tickets));
    for (const [name, content, message] of [
      [
        'tickets.ndjson',
        bytes,
        /^tickets\.ndjson: it is compressed by gzip: its name must end in \.ndjson\.gz$/,
      ],
      [
        'tickets.ndjson.gz',
        Buffer.concat([bytes, Buffer.alloc(300_000), bytes]),
        /: its gzip data ends at byte \d+ of \d+: compress it again$/,
      ],
    ] as const) {
      const { message: found } = await errorOf(UnreadableImport, { organizations, [name]: content });
      expect(found).to.match(message);
    }
  });
});
