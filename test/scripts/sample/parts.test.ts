import { expect } from 'chai';
import fc from 'fast-check';
import { sessionStarts } from '../../../scripts/sample/clock.ts';
import { percentOf, taxWithin } from '../../../scripts/sample/money.ts';
import { sharesOf } from '../../../scripts/sample/organizations.ts';
import type { Seating } from '../../../scripts/sample/profile.ts';
import { Identifiers, Random, ShuffleBag } from '../../../scripts/sample/random.ts';
import { seatAt } from '../../../scripts/sample/tickets.ts';

const seconds = (text: string) => Date.parse(text) / 1000;

describe('Shares', () => {
  it('add up to the total, each within one of its proportion', () => {
    const weights = fc.array(fc.double({ min: 0.001, max: 1000, noNaN: true }), {
      minLength: 1,
      maxLength: 50,
    });
    fc.assert(
      fc.property(fc.nat(1_000_000), weights, (total, parts) => {
        const shares = sharesOf(total, parts);
        const sum = parts.reduce((a, b) => a + b, 0);
        expect(shares.reduce((a, b) => a + b, 0)).to.equal(total);
        shares.forEach((share, position) => {
          expect(Math.abs(share - (total * parts[position]) / sum)).to.be.below(1.000001);
        });
      }),
      { seed: 1 },
    );
  });
});

describe('A schedule', () => {
  it('keeps its weekdays and local times when the offset changes', () => {
    const schedule = { firstDay: -2, sessions: 3, weekdays: '67', times: '20:00', minutes: 90 };
    const starts = sessionStarts(schedule, 'Europe/Paris', seconds('2026-10-26T12:00:00Z'));
    expect(starts.map((start) => new Date(start * 1000).toISOString())).to.deep.equal([
      '2026-10-24T18:00:00.000Z',
      '2026-10-25T19:00:00.000Z',
      '2026-10-31T19:00:00.000Z',
    ]);
  });
});

describe('Identifiers', () => {
  it('are unique', () => {
    const ids = new Identifiers(new Random(1));
    const counters = Array.from({ length: 100_000 }, () => ids.code().slice(0, 8));
    expect(new Set(counters)).to.have.length(counters.length);
    expect(ids.next('tkt_')).to.match(/^tkt_[0-9a-f]{16}$/);
  });
});

describe('A shuffle bag', () => {
  it('yields every value in its frequency before it refills', () => {
    const bag = new ShuffleBag(new Random(1), { a: 3, b: 1 });
    for (let round = 0; round < 50; round++) {
      expect([bag.draw(), bag.draw(), bag.draw(), bag.draw()].sort().join('')).to.equal('aaab');
    }
  });
});

describe('An amount', () => {
  it('is rounded to minor units or to a step', () => {
    expect(percentOf(1999, 15)).to.equal(300);
    expect(percentOf(2250, 70, 50)).to.equal(1600);
    expect(taxWithin(1055, 0.055)).to.equal(55);
    expect(taxWithin(0, 0.1)).to.equal(0);
  });
});

describe('Seats', () => {
  const numbered: Seating = {
    blocs: ['Left', 'Right'],
    rows: 30,
    seatsPerRow: 4,
    rowNames: 'letters',
  };

  it('fill row by row, bloc by bloc, and continue in copies of the blocs', () => {
    expect([0, 5, 26 * 4, 120, 240].map((number) => seatAt(numbered, number))).to.deep.equal([
      { blocName: 'Left', seatRow: 'A', seatNumber: '1' },
      { blocName: 'Left', seatRow: 'B', seatNumber: '2' },
      { blocName: 'Left', seatRow: 'AA', seatNumber: '1' },
      { blocName: 'Right', seatRow: 'A', seatNumber: '1' },
      { blocName: 'Left 2', seatRow: 'A', seatNumber: '1' },
    ]);
  });

  it('have no row and number in an area, and are null for free seating', () => {
    expect(seatAt({ area: 'Floor' }, 3)).to.deep.equal({
      blocName: 'Floor',
      seatRow: null,
      seatNumber: null,
    });
    expect(seatAt(undefined, 3)).to.equal(null);
  });
});
