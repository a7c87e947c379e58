import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { exampleOf, type Fields, type Json } from '../../src/contract/field.ts';
import { OFFER, OFFER_TYPES } from '../../src/contract/resources.ts';
import { cutOffer } from '../../src/query/offer-view.ts';
import type { OfferView } from '../../src/query/plan.ts';
import { randomRecord } from '../support/oracle/random-record.ts';
import { randomText } from '../support/oracle/texts.ts';
import { minimalPricing, times } from '../support/records.ts';

const SEEDS = [20261121, 7, 4294967295];
const OFFERS_EACH = 4000;
const SESSIONS = [
  ...['a', 'ab', 'A', '', 'null', 'true', 'a"', 'a\\', 'a\\"'],
  ...['é', 'e\u0301', '\n', '}', '},{', '\ud800'],
];

interface ServedOffer {
  readonly type: string;
  readonly pricing: readonly { readonly resaleEnabled: boolean }[];
  readonly inventory: readonly { readonly sessionId: string }[];
}

/** Cuts an offer by the definition of the view. */
function cutNaively(json: string, { inventoryOf, resaleEnabled }: OfferView): string {
  const offer = JSON.parse(json) as ServedOffer;
  if (offer.type !== 'TICKET') return json;
  return JSON.stringify({
    ...offer,
    ...(resaleEnabled !== undefined && {
      pricing: offer.pricing.filter((pricing) => pricing.resaleEnabled === resaleEnabled),
    }),
    ...(inventoryOf !== undefined && {
      inventory: offer.inventory.filter(({ sessionId }) => sessionId === inventoryOf),
    }),
  });
}

/** Returns an offer in its stored form, in which many texts are fragments of offers. */
function randomOffer(random: Random): string {
  const type = random.pick(OFFER_TYPES);
  const fields = OFFER.variants[type];
  const offer = bait(random, randomRecord(random, fields), fields);
  if (type !== 'TICKET') return JSON.stringify(offer);
  const elements = (name: string, decider: string, values: readonly Json[]) =>
    Array.from({ length: random.below(7) }, () => {
      const declared = elementFields(fields, name);
      return { ...bait(random, randomRecord(random, declared), declared), [decider]: random.pick(values) };
    });
  return JSON.stringify({
    ...offer,
    pricing: elements('pricing', 'resaleEnabled', [true, false]),
    inventory: elements('inventory', 'sessionId', SESSIONS.slice(0, random.between(1, 15))),
  });
}

const BAIT = JSON.stringify([exampleOf(OFFER.variants['TICKET']), exampleOf(OFFER.variants['TICKET'])]);

/** Replaces free texts of a record by fragments of offers. */
function bait(random: Random, record: Record<string, Json>, fields: Fields): Record<string, Json> {
  const entries = Object.entries(record).map(([name, value]): [string, Json] => {
    if (fields[name].shape.kind !== 'text' || value === null || random.chance(0.3)) return [name, value];
    const from = random.below(BAIT.length);
    const piece = BAIT.slice(from, from + random.between(1, 60));
    return [name, random.pick([piece, piece.replaceAll('"', '\\"'), `${randomText(random)}${piece}\\`])];
  });
  return Object.fromEntries(entries);
}

function elementFields(fields: Fields, name: string): Fields {
  const { shape } = fields[name];
  if (shape.kind !== 'list' || shape.items.kind !== 'object') throw new TypeError(`no elements: ${name}`);
  return shape.items.fields;
}

const VIEWS: readonly OfferView[] = [
  { resaleEnabled: true },
  { resaleEnabled: false },
  ...SESSIONS.flatMap((inventoryOf) => [{ inventoryOf }, { inventoryOf, resaleEnabled: true }]),
];

/** A record between others, as in the store. */
function placed(json: string): Buffer {
  const [record, other] = [Buffer.from(json), Buffer.from(`,${BAIT},`)];
  const bytes = Buffer.from(new SharedArrayBuffer(record.length + 2 * other.length));
  bytes.set(other);
  bytes.set(record, other.length);
  bytes.set(other, other.length + record.length);
  return bytes.subarray(other.length, other.length + record.length);
}

describe('An offer cut down to a view', () => {
  for (const seed of SEEDS) {
    it(`is byte for byte the result of parsing, filtering and writing the offer (seed ${seed})`, () => {
      const random = new Random(seed);
      const seen = { whole: 0, cut: 0 };
      for (let i = 0; i < OFFERS_EACH; i++) {
        const json = randomOffer(random);
        const record = placed(json);
        const view = random.pick(VIEWS);
        const expected = cutNaively(json, view);
        const found = cutOffer(record, view);
        if (!found.equals(Buffer.from(expected))) {
          expect(found.toString(), `offer ${i} of seed ${seed}, ${JSON.stringify(view)}: ${json}`).to.equal(
            expected,
          );
        }
        seen[expected === json ? 'whole' : 'cut']++;
      }
      expect(seen.whole).to.be.greaterThan(OFFERS_EACH / 5);
      expect(seen.cut).to.be.greaterThan(OFFERS_EACH / 5);
    });
  }

  it('is one buffer, however many parts are cut out; without a cut, the record itself', () => {
    const element = (resaleEnabled: boolean) => minimalPricing('p', { resaleEnabled });
    const offer = exampleOf(OFFER.variants['TICKET']);
    const pricing = times(9000, (i) => element(i % 2 === 0));
    const record = placed(JSON.stringify({ ...offer, pricing }));
    const cut = cutOffer(record, { resaleEnabled: true });
    expect((JSON.parse(cut.toString()) as ServedOffer).pricing).to.have.length(4500);
    expect(cutOffer(record, { inventoryOf: 'ses_301' })).to.equal(record);
  });

  it('is refused for a record of another form', () => {
    const start = '{"offerId":"a","type":"TICKET"';
    for (const rest of ['}', ',"optionOffers":[],"pricing":[],"inventory":[]}', ',"pricing":[]}']) {
      expect(() => cutOffer(Buffer.from(start + rest), { resaleEnabled: true }), rest).to.throw(TypeError);
    }
    expect(() => cutOffer(Buffer.from(`${start}}`), { inventoryOf: 'a' })).to.throw(TypeError);
  });

  it('relies on names that occur once in an offer', () => {
    const counted = (type: string, mark: string) =>
      JSON.stringify(exampleOf(OFFER.variants[type])).split(mark).length - 1;
    for (const type of OFFER_TYPES) expect(counted(type, ',"type":'), type).to.equal(1);
    const marks = ['pricing', 'resaleEnabled', 'optionOffers', 'inventory', 'sessionId'].map(
      (n) => `,"${n}":`,
    );
    for (const mark of [...marks, '{"pricingId":', '{"inventoryId":']) {
      expect(counted('TICKET', mark), mark).to.equal(1);
    }
  });
});
