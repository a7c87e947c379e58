import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Command, INHERITED, ROOT, run } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { build, contentOf, recordsOf } from '../support/import-folder.ts';
import { times } from '../support/records.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { folderForAll } from '../support/temporary-folder.ts';

/** Every character that a client, a shell, awk or JSON might change. */
const NUMBER = `${times(128, (code) => String.fromCharCode(code)).join('')} \\N NULL \\n \\" é €\u2028😀`;

/** Tables with times of both types, with and without fractions. Only one column is in UTF-8. */
const TABLES = `CREATE DATABASE shop CHARACTER SET latin1;
USE shop;
SET time_zone = '+00:00';
CREATE TABLE organizations (id varchar(20), name text);
INSERT INTO organizations VALUES ('org_1', 'Théâtre des Quais');

CREATE TABLE events (id varchar(20), organization_id varchar(20) DEFAULT 'org_1', title text DEFAULT 'Théâtre',
  time_zone text, created_at timestamp(6) DEFAULT '2026-07-01 10:00:00.123456',
  updated_at datetime(3) DEFAULT '2026-07-01 10:00:00.25');
INSERT INTO events (id, time_zone) VALUES ('evt_1', 'Europe/Paris'), ('evt_2', 'America/St_Johns'), ('evt_3', 'Asia/Kolkata');

CREATE TABLE event_tags (event_id varchar(20), position int, tag text);
INSERT INTO event_tags VALUES ('evt_1', 2, 'théâtre'), ('evt_1', 1, '"a\\\\b",');

CREATE TABLE sessions (id varchar(20), event_id varchar(20), start_at timestamp(3), minutes int DEFAULT 90);
INSERT INTO sessions (id, event_id, start_at) SELECT CONCAT(id, 'a'), id, '2027-10-31 00:30:00' FROM events;
INSERT INTO sessions (id, event_id, start_at) SELECT CONCAT(id, 'b'), id, '2027-10-31 01:30:00.5' FROM events;

CREATE TABLE tickets (id text, order_id text DEFAULT 'ord_1', event_id varchar(20) DEFAULT 'evt_1',
  session_id text DEFAULT 'evt_1a', status text DEFAULT 'FULFILLED', qr_code text, price decimal(12, 2), transferable tinyint(1),
  issued_at datetime DEFAULT '2026-07-02 09:05:00', updated_at datetime(6) DEFAULT '2026-07-02 09:05:00.000001',
  cancelled_at datetime);
INSERT INTO tickets (id, qr_code, price, transferable, cancelled_at) VALUES ('tkt_1', '0041', 42.70, 1, '0000-00-00'),
  ('tkt_2', '0042', 0, 0, '2026-07-03 08:00:00'), ('tkt_3', '0043', NULL, NULL, NULL);

CREATE TABLE orders (id varchar(20), organization_id text DEFAULT 'org_1', number text CHARACTER SET utf8mb4,
  status text DEFAULT 'FULFILLED', email text, customer_id text DEFAULT 'cus_1', total decimal(12, 2),
  created_at datetime DEFAULT '2026-07-02 09:00:00', updated_at datetime DEFAULT '2026-07-02 09:00:00');
INSERT INTO orders (id, number, email, total) VALUES ('ord_2', NULL, '', NULL), ('ord_3', 'NULL', NULL, 0),
  ('ord_1', _utf8mb4 X'${Buffer.from(NUMBER).toString('hex')}', 'zoë@example.org', 85.40);

CREATE TABLE order_items (id int, order_id varchar(20), offer_id text, event_id text, session_id text, quantity int,
  unit_price decimal(12, 2));
INSERT INTO order_items VALUES (2, 'ord_1', 'b', 'evt_1', NULL, 1, 0.10), (1, 'ord_1', '"a', 'evt_1', 'evt_1a', 2, 42.65);
`;

describe('The SQL of docs/data.md for MySQL', () => {
  needs('MariaDB');
  const folder = folderForAll();
  const page = readFileSync(join(ROOT, 'docs/data.md'), 'utf8');
  const [, sql = '', command = ''] = /## From MySQL.*?```sql\n(.*?)```.*?```sh\n(.*?)```/s.exec(page) ?? [];
  let server: Command;

  /** Runs a script, whose clients read their options from a file of the home directory. */
  function shell(script: string, cwd = folder('home')): string {
    const env = { ...INHERITED, HOME: folder('home') };
    return execFileSync('sh', ['-c', script], { cwd, env, encoding: 'utf8' });
  }

  before(async () => {
    mkdirSync(folder('home'));
    writeFileSync(folder('home/.my.cnf'), `[client]\nuser=root\nsocket=${folder('socket')}\n`);
    const options = ['--no-defaults', `--user=${userInfo().username}`, `--datadir=${folder('data')}`];
    const access = '--auth-root-authentication-method=normal';
    execFileSync('mariadb-install-db', [...options, access], { stdio: 'ignore' });
    const more = [`--socket=${folder('socket')}`, `--pid-file=${folder('pid')}`, '--skip-networking'];
    const start = ['sh', '-c', 'exec /usr/sbin/mariadbd "$@" 2>&1', 'sh', ...options, ...more];
    server = new Command('', [], {}, { command: start });
    await server.waitForOutput(/ready for connections/);
    writeFileSync(folder('home/tables.sql'), TABLES);
    shell('mysql --default-character-set=utf8mb4 < tables.sql');
  });

  after(async () => {
    server.kill('SIGKILL');
    await server.ended;
  });

  /** Runs the printed command in a folder. */
  function exported(name: string, script = sql, printed = command): string {
    mkdirSync(folder(`${name}/import`), { recursive: true });
    writeFileSync(folder(`${name}/export.sql`), script);
    shell(printed, folder(name));
    return folder(`${name}/import`);
  }

  /** Returns the errors of a build. */
  const errorsIn = async (input: string) =>
    (await run('scripts/snapshot.ts', ['build', '--input', input, '--output', folder('refused.sqlite')]))
      .stderr;

  it('names a time zone that the server does not have', async () => {
    expect(await errorsIn(exported('no zones'))).to.match(
      /sessions.ndjson: startAt must be .*, found "load time zones by mysql_tzinfo_to_sql: no Europe\/Paris"/,
    );
  });

  describe('with time zones', () => {
    before(() => shell('mysql_tzinfo_to_sql /usr/share/zoneinfo 2>/dev/null | mysql mysql'));

    it('exports each value exactly', async () => {
      await build(exported('all'), folder('all.sqlite'));
      const organization = contentOf(readSnapshot(folder('all.sqlite')).organizations[0]);
      expect(recordsOf(organization.events).get('evt_1')).to.deep.include({
        title: 'Théâtre',
        createdAt: '2026-07-01T10:00:00.123456Z',
        updatedAt: '2026-07-01T10:00:00.250Z',
        tags: ['"a\\b",', 'théâtre'],
      });
      const starts = Array.from(recordsOf(organization.sessions).values(), ({ startAt }) => startAt);
      expect(starts).to.have.members([
        '2027-10-31T02:30:00.000+02:00',
        '2027-10-31T02:30:00.500+01:00',
        '2027-10-30T22:00:00.000-02:30',
        '2027-10-30T23:00:00.500-02:30',
        '2027-10-31T06:00:00.000+05:30',
        '2027-10-31T07:00:00.500+05:30',
      ]);
      for (const [id, ticket] of Object.entries({
        tkt_1: { qrCode: '0041', listPrice: 42.7, transferable: true, cancelledAt: null },
        tkt_2: { qrCode: '0042', listPrice: 0, transferable: false, cancelledAt: '2026-07-03T08:00:00Z' },
        tkt_3: { qrCode: '0043', listPrice: null, transferable: null, cancelledAt: null },
      })) {
        expect(recordsOf(organization.tickets).get(id), id).to.include({
          ...ticket,
          issuedAt: '2026-07-02T09:05:00Z',
          updatedAt: '2026-07-02T09:05:00.000001Z',
        });
      }
      const orders = recordsOf(organization.orders);
      expect(orders.get('ord_1')).to.include({ orderNumber: NUMBER, totalPrice: 85.4 });
      expect(orders.get('ord_1')).to.have.nested.property('customer.email', 'zoë@example.org');
      expect(orders.get('ord_1')).to.have.nested.property('placedItems[0].offerId', '"a');
      expect(orders.get('ord_1')).to.have.nested.property('placedItems[1].unitPrice', 0.1);
      expect(orders.get('ord_2')).to.deep.include({ orderNumber: null, customer: null, placedItems: [] });
      expect(orders.get('ord_3')).to.include({ orderNumber: 'NULL', customer: null, totalPrice: 0 });
    });

    it('needs --raw, as the error tells', async () => {
      const input = exported('not raw', sql, command.replace('--raw ', ''));
      expect(await errorsIn(input)).to.match(
        /events.ndjson: the line must be a JSON object: backslashes are doubled: .* or by mysql --raw,/,
      );
    });

    it('writes all files of the same moment', () => {
      const script = sql.replace(/^SELECT 'orders'/m, `\\! mysql shop -e "DELETE FROM orders"\n$&`);
      expect(readFileSync(join(exported('moment', script), 'orders.ndjson'), 'utf8')).to.include('ord_3');
      expect(shell('mysql -N shop -e "SELECT count(*) FROM orders"')).to.equal('0\n');
    });
  });
});
