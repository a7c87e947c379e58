import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { exampleOf, type Fields, type Json } from '../../src/contract/field.ts';
import { servedSchema } from '../../src/contract/openapi/document.ts';
import { EVENT, OFFER, ORDER, TICKET } from '../../src/contract/resources.ts';

function isServed(fields: Fields, changes: Record<string, Json | undefined>): boolean {
  const record = JSON.parse(JSON.stringify({ ...exampleOf(fields), ...changes })) as unknown;
  return new Ajv2020({ strict: false }).compile(servedSchema(fields))(record);
}

describe('servedSchema', () => {
  const { '': event } = EVENT.variants;
  const { '': ticket } = TICKET.variants;
  const { '': order } = ORDER.variants;
  const cases: [what: string, fields: Fields, changes: Record<string, Json | undefined>, served: boolean][] =
    [
      ['an example', event, {}, true],
      ['null for a nullable field', event, { description: null }, true],
      ['null instead of an object', event, { venueAddress: null }, true],
      ['no next session', event, { nextSessionStartAt: null, nextSessionId: null }, true],
      ['an instant to the minute', ticket, { issuedAt: '2026-01-31T20:00+01:00' }, true],
      ['unlisted values', ticket, { status: 'ON_HOLD', issuanceChannel: 'X' }, true],
      ['no add-ons', order, { addOns: [] }, true],
      ['a missing key', event, { description: undefined }, false],
      ['an additional key', event, { organizationId: 'org' }, false],
      ['null instead of a list', event, { tags: null }, false],
      ['null for a required field', ticket, { qrCode: null }, false],
      ['null for a session count', event, { sessionCount: null }, false],
      ['null for the first session', event, { firstSessionStartAt: null }, false],
      ['an event with createdAt not in UTC', event, { createdAt: '2026-01-31T20:00:00+01:00' }, false],
      ['a text for a number', ticket, { listPrice: '45' }, false],
      ['a fraction for a count', event, { sessionCount: 1.5 }, false],
      ['an unknown order status', order, { status: 'PAID' }, false],
      ['an offer of another type', OFFER.variants['TICKET'], { type: 'BUNDLE' }, false],
    ];
  for (const [what, fields, changes, served] of cases) {
    it(`${served ? 'accepts' : 'rejects'} ${what}`, () => {
      expect(isServed(fields, changes)).to.equal(served);
    });
  }
});
