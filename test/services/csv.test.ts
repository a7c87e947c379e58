import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readSnapshot } from '../support/read-snapshot.ts';
import { ROOT } from '../support/command.ts';
import { build, recordsOf, contentOf } from '../support/import-folder.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { givenPython } from './python.ts';

describe('The SQL of docs/data.md for DuckDB', () => {
  const python = givenPython();
  const folder = folderForAll();

  it('converts CSV files', async () => {
    const page = readFileSync(join(ROOT, 'docs/data.md'), 'utf8');
    const [, sql] = /```sql\n(.*?)```/s.exec(page) ?? [];
    mkdirSync(folder('csv'));
    mkdirSync(folder('import'));
    const files = {
      organizations: 'id,name\norg_1,Théâtre des Quais\n',
      events:
        'id,organization_id,title,created_at,updated_at,tags\nevt_1,org_1,"Le ""Misanthrope""",2026-07-01 10:00:00,2026-07-01 10:00:00,classic|theatre\n',
      sessions: 'id,event_id,start_at,minutes\nses_1,evt_1,2026-12-10 20:30:00,110\n',
      tickets: `id,order_id,event_id,session_id,status,qr_code,price,issued_at,updated_at
tkt_1,ord_1,evt_1,ses_1,FULFILLED,00417,42.75,2026-07-02 09:05:00,2026-07-02 09:05:00
tkt_2,ord_1,evt_1,ses_1,FULFILLED,00418,,2026-07-02 09:05:00,2026-07-02 09:05:00\n`,
      orders: `id,organization_id,number,status,email,customer_id,total,created_at,updated_at
ord_1,org_1,A-1,FULFILLED,zoe@example.org,cus_1,85.50,2026-07-02 09:00:00,2026-07-02 09:05:00
ord_2,org_1,A-2,CANCELLED,zoe@example.org,cus_1,0,2026-07-02 09:00:00,2026-07-02 09:05:00\n`,
      order_items:
        'order_id,offer_id,event_id,session_id,quantity,unit_price\nord_1,off_1,evt_1,ses_1,2,42.75\n',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(folder(`csv/${name}.csv`), text);
    const { status, stderr } = spawnSync(
      python,
      ['-c', 'import duckdb, sys; duckdb.connect().execute(sys.argv[1])', sql],
      { cwd: folder(''), encoding: 'utf8' },
    );
    expect(status, stderr).to.equal(0);
    await build(folder('import'), folder('a.sqlite'));
    const organization = contentOf(readSnapshot(folder('a.sqlite')).organizations[0]);
    expect(recordsOf(organization.events).get('evt_1')).to.include({
      title: 'Le "Misanthrope"',
      createdAt: '2026-07-01T08:00:00Z',
      firstSessionStartAt: '2026-12-10T19:30:00+00:00',
    });
    expect(recordsOf(organization.tickets).get('tkt_1')).to.include({ listPrice: 42.75, qrCode: '00417' });
    expect(recordsOf(organization.tickets).get('tkt_2')).to.include({ listPrice: null, qrCode: '00418' });
    expect(recordsOf(organization.orders).get('ord_2')).to.deep.include({ placedItems: [] });
    expect(recordsOf(organization.orders).get('ord_1')).to.deep.include({
      totalPrice: 85.5,
      customer: { customerId: 'cus_1', email: 'zoe@example.org', firstName: null, lastName: null },
    });
  });
});
