import { expect } from 'chai';
import { IMPORT_FILES } from '../../../src/snapshot/builder/import/import-files.ts';
import { similarName } from '../../../src/snapshot/builder/import/problems.ts';

const FIELDS = ['ticketId', 'listPrice', 'finalPaidPrice', 'priceLabel', 'vat', 'eventSessionStartAt'];

describe('A similar name', () => {
  for (const [name, known, similar] of [
    ['ticket', IMPORT_FILES, 'tickets'],
    ['tikets', IMPORT_FILES, 'tickets'],
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
