import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { ROOT } from '../support/command.ts';
import { build, recordsOf, contentOf, digestsOf } from '../support/import-folder.ts';
import { shuffled } from '../support/random.ts';
import { times } from '../support/records.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { givenPython } from './python.ts';

const FILES = {
  organizations: 'id,name\norg_1,Théâtre des Quais\n',
  events:
    'id,organization_id,title,created_at,updated_at,tags\nevt_1,org_1,"Le ""Misanthrope""",2026-07-01 10:00:00.25,2026-07-01 10:00:00,classic|theatre\n',
  sessions: 'id,event_id,start_at,minutes\nses_1,evt_1,2026-12-10 20:30:00.123456,110\n',
  tickets: `id,order_id,event_id,session_id,status,qr_code,price,issued_at,updated_at
tkt_1,ord_1,evt_1,ses_1,FULFILLED,00417,42.75,2026-07-02 09:05:00,2026-07-02 09:05:00
tkt_2,ord_1,evt_1,ses_1,FULFILLED,00418,,2026-07-02 09:05:00,2026-07-02 09:05:00\n`,
  orders: `id,organization_id,number,status,email,customer_id,total,created_at,updated_at
ord_1,org_1,A-1,FULFILLED,zoe@example.org,cus_1,85.50,2026-07-02 09:00:00,2026-07-02 09:05:00
ord_2,org_1,A-2,CANCELLED,,cus_1,0,2026-07-02 09:00:00,2026-07-02 09:05:00
ord_3,org_1,\\N,CANCELLED,\\N,\\N,\\N,2026-07-02 09:00:00,2026-07-02 09:05:00
ord_4,org_1,NULL,CANCELLED,NULL,NULL,NULL,2026-07-02 09:00:00,2026-07-02 09:05:00\n`,
  order_items: 'order_id,offer_id,event_id,session_id,quantity,unit_price\nord_1,off_1,evt_1,ses_1,2,42.75\n',
};

/** Returns CSV with the first line of another one. */
const withHeader = (csv: string, rows: readonly string[]) => [csv.split('\n')[0], ...rows, ''].join('\n');

describe('The SQL of docs/data.md for DuckDB', () => {
  const python = givenPython();
  const folder = folderForAll();
  const page = readFileSync(join(ROOT, 'docs/data.md'), 'utf8');
  const [, sql] = /```sql\n(.*?)```/s.exec(page) ?? [];

  /** Converts CSV files, and builds and reads the snapshot. */
  async function converted(name: string, files: typeof FILES): Promise<SnapshotImage> {
    const cwd = folder(name);
    mkdirSync(join(cwd, 'csv'), { recursive: true });
    mkdirSync(join(cwd, 'import'));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, `csv/${file}.csv`), text);
    const program = 'import duckdb, sys; duckdb.execute("SET threads = 4"); duckdb.execute(sys.argv[1])';
    const { status, stderr } = spawnSync(python, ['-c', program, sql], { cwd, encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
    await build(join(cwd, 'import'), join(cwd, 'a.sqlite'));
    return readSnapshot(join(cwd, 'a.sqlite'));
  }

  it('converts CSV files', async () => {
    const organization = contentOf((await converted('small', FILES)).organizations[0]);
    expect(recordsOf(organization.events).get('evt_1')).to.include({
      title: 'Le "Misanthrope"',
      createdAt: '2026-07-01T08:00:00.25Z',
      updatedAt: '2026-07-01T08:00:00Z',
      firstSessionStartAt: '2026-12-10T20:30:00.123456+01:00',
    });
    expect(recordsOf(organization.tickets).get('tkt_1')).to.include({ listPrice: 42.75, qrCode: '00417' });
    expect(recordsOf(organization.tickets).get('tkt_2')).to.include({ listPrice: null, qrCode: '00418' });
    expect(recordsOf(organization.orders).get('ord_2')).to.deep.include({
      customer: null,
      placedItems: [],
    });
    const nulls = { orderNumber: null, customer: null, totalPrice: null };
    for (const id of ['ord_3', 'ord_4']) expect(recordsOf(organization.orders).get(id)).to.include(nulls);
    expect(recordsOf(organization.orders).get('ord_1')).to.deep.include({
      totalPrice: 85.5,
      customer: { customerId: 'cus_1', email: 'zoe@example.org', firstName: null, lastName: null },
    });
  });

  it('yields the same content from the same rows in any order', async () => {
    const time = '2026-07-02 09:05:00';
    const orders = times(
      20_000,
      (i) => `ord_${i},org_1,${i},FULFILLED,a@example.org,cus_1,3,${time},${time}`,
    );
    // Two items are alike, and one has no session.
    const items = orders.flatMap((_, i) =>
      ['off_1,evt_1,ses_1', 'off_1,evt_1,ses_1', 'off_1,evt_1,'].map((item) => `ord_${i},${item},1,1.00`),
    );
    const digests: Record<string, string>[] = [];
    for (const seed of [1, 2]) {
      const order_items = withHeader(FILES.order_items, shuffled(new Random(seed), items));
      const files = { ...FILES, orders: withHeader(FILES.orders, orders), order_items };
      digests.push(digestsOf(await converted(`shuffled ${seed}`, files)));
    }
    expect(digests[1]).to.deep.equal(digests[0]);
  });
});
