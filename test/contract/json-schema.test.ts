import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { exampleOf, type Json, type Resource } from '../../src/contract/field.ts';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { RELEASES } from '../../src/contract/releases.ts';
import {
  EVENT as event,
  OFFER as offer,
  ORDER as order,
  TICKET as ticket,
} from '../../src/contract/resources.ts';

const ajv = new Ajv2020({ strict: false }).addSchema({ ...openApiDocument(RELEASES) }, 'openapi');

function isServed({ name, variants }: Resource, changes: Record<string, Json | undefined>): boolean {
  const [fields] = Object.values(variants);
  const record = JSON.parse(JSON.stringify({ ...exampleOf(fields), ...changes })) as unknown;
  return ajv.compile({ $ref: `openapi#/components/schemas/${name}` })(record);
}

describe('The schema of a resource', () => {
  const cases: [what: string, of: Resource, changes: Record<string, Json | undefined>, served: boolean][] = [
    ['an example', event, {}, true],
    ['null for a nullable field', event, { description: null }, true],
    ['null instead of an object', event, { venueAddress: null }, true],
    ['no next session', event, { nextSessionStartAt: null, nextSessionId: null }, true],
    ['a fraction of a second', ticket, { issuedAt: '2026-01-31T20:00:00.123456789+01:00' }, true],
    ['a field of a later release', event, { addedLater: { deep: [1] } }, true],
    ['unlisted values', ticket, { status: 'ON_HOLD', issuanceChannel: 'X' }, true],
    ['no add-ons', order, { addOns: [] }, true],
    ['a missing key', event, { description: undefined }, false],
    ['an instant to the minute', ticket, { issuedAt: '2026-01-31T20:00+01:00' }, false],
    ['an offset without a colon', ticket, { issuedAt: '2026-01-31T20:00:00+0100' }, false],
    ['null instead of a list', event, { tags: null }, false],
    ['null for a required field', ticket, { qrCode: null }, false],
    ['null for a session count', event, { sessionCount: null }, false],
    ['null for the first session', event, { firstSessionStartAt: null }, false],
    ['an event with createdAt not in UTC', event, { createdAt: '2026-01-31T20:00:00+01:00' }, false],
    ['a text for a number', ticket, { listPrice: '45' }, false],
    ['a fraction for a count', event, { sessionCount: 1.5 }, false],
    ['an unknown order status', order, { status: 'PAID' }, false],
    ['an offer of another type', offer, { type: 'BUNDLE' }, false],
  ];
  for (const [what, of, changes, served] of cases) {
    it(`${served ? 'accepts' : 'rejects'} ${what}`, () => {
      expect(isServed(of, changes)).to.equal(served);
    });
  }
});
