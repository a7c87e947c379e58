import { expect } from 'chai';
import { similarName, similarVariable } from '../src/similar-names.ts';
import { IMPORT_FILES } from '../src/snapshot/builder/import/import-files.ts';

const FIELDS = ['ticketId', 'listPrice', 'finalPaidPrice', 'priceLabel', 'vat', 'eventSessionStartAt'];

describe('A similar name', () => {
  for (const [name, known, similar] of [
    ['ticket', IMPORT_FILES, 'tickets'],
    ['tikets', IMPORT_FILES, 'tickets'],
    ['tickest', IMPORT_FILES, 'tickets'],
    ['Tickets', IMPORT_FILES, 'tickets'],
    ['oders', IMPORT_FILES, 'orders'],
    ['organisation', IMPORT_FILES, 'organizations'],
    ['event_sessions', IMPORT_FILES, 'sessions'],
    ['tickets-2', IMPORT_FILES, 'tickets'],
    ['list_price', FIELDS, 'listPrice'],
    ['price', FIELDS, 'listPrice'],
    ['paidPrice', FIELDS, 'finalPaidPrice'],
    ['ticketID', FIELDS, 'ticketId'],
    ['VAT', FIELDS, 'vat'],
    ['eventSesionStartsAt', FIELDS, 'eventSessionStartAt'],
  ] as const) {
    it(`of ${name} is ${similar}`, () => {
      expect(similarName(name, known)).to.equal(similar);
    });
  }

  for (const [name, known] of [
    ['customers', IMPORT_FILES],
    ['seasons', IMPORT_FILES],
    ['venues', IMPORT_FILES],
    ['order_items', IMPORT_FILES],
    ['README', IMPORT_FILES],
    ['tax', FIELDS],
    ['at', FIELDS],
    ['', FIELDS],
    ['---', FIELDS],
  ] as const) {
    it(`does not exist for ${JSON.stringify(name)}`, () => {
      expect(similarName(name, known)).to.equal(undefined);
    });
  }
});

describe('A similar variable', () => {
  const known = [
    'PORT',
    'HOST',
    'THREADS',
    'SNAPSHOT_DIR',
    'TRUST_PROXY',
    'RATE_LIMIT_PER_MINUTE',
    'LOG_LEVEL',
  ];

  for (const [name, similar] of [
    ['SNAPSHOT_DIRS', 'SNAPSHOT_DIR'],
    ['SNAPSHOT_DIRECTORY', 'SNAPSHOT_DIR'],
    ['SNAPSHOTS_DIR', 'SNAPSHOT_DIR'],
    ['SNPASHOT_DIR', 'SNAPSHOT_DIR'],
    ['TRUST_PROXYS', 'TRUST_PROXY'],
    ['TRUST_PROXIES', 'TRUST_PROXY'],
    ['RATE_LIMIT_PER_MIN', 'RATE_LIMIT_PER_MINUTE'],
    ['RATE_LIMIT', 'RATE_LIMIT_PER_MINUTE'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['THREAD', 'THREADS'],
    ['port', 'PORT'],
  ] as const) {
    it(`of ${name} is ${similar}`, () => {
      expect(similarVariable(name, known)).to.equal(similar);
    });
  }

  for (const name of [
    'HOSTNAME',
    'DB_HOST',
    'PORTS',
    'PORT0',
    'TRANSPORT',
    'POST',
    'RUST_LOG_LEVEL',
    'SNAPSHOT',
  ]) {
    it(`does not exist for ${name}`, () => {
      expect(similarVariable(name, known)).to.equal(undefined);
    });
  }
});
