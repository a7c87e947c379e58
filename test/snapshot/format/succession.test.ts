import { expect } from 'chai';
import type { CollectionName } from '../../../src/contract/operations.ts';
import { byCollection } from '../../../src/snapshot/format/layout.ts';
import { type Manifest, NO_RECORDS, type RecordCounts } from '../../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { checkSuccession } from '../../../src/snapshot/format/succession.ts';
import { declaration, manifest } from '../../support/empty-image.ts';
import { thrownBy } from '../../support/refusal.ts';

const LIVE_AT = '2026-11-21T10:00:00.000Z';
const OLDER = '2026-11-21T09:59:59.999999Z';
const COUNTS: RecordCounts = { events: 10, sessions: 499, tickets: 1001, orders: 500, offers: 300 };

function organization(organizationId: string, counts: Partial<Record<CollectionName, number>> = {}) {
  const all = { ...COUNTS, ...counts };
  return declaration(
    organizationId,
    byCollection(({ name }) => ({ ...NO_RECORDS, recordCount: all[name] })),
  );
}

const [north, south] = ['north', 'south'].map((id) => organization(id));

/** Checks a snapshot against a live one of the organizations north and south. */
function check(changed: Partial<Manifest>): void {
  const next = manifest('next', { producedAt: LIVE_AT, organizations: [north, south], ...changed });
  const live = [north, south].map(({ organizationId }) => ({
    organizationId,
    snapshotId: 'live',
    producedAt: LIVE_AT,
    counts: COUNTS,
  }));
  checkSuccession(next, live);
}

const refusalOf = (changed: Partial<Manifest>) =>
  thrownBy(() => {
    check(changed);
  }, RefusedSnapshot);

describe('The succession check', () => {
  const withoutTickets = [organization('north', { tickets: 0 }), south];

  for (const [what, next] of Object.entries<Partial<Manifest>>({
    'as new and as large as the live one': {},
    'of the same instant in another form': { producedAt: '2026-11-21T10:00:00Z' },
    'with new organizations and records': {
      organizations: [organization('north', { tickets: 1000, offers: 7 }), south, organization('west')],
    },
    'that is older, with the permit to roll back': { producedAt: OLDER, permits: ['rollback'] },
    'without an organization, with the permit to shrink': { organizations: [north], permits: ['shrink'] },
    'without a collection, with the permit to shrink': { organizations: withoutTickets, permits: ['shrink'] },
  })) {
    it(`admits a snapshot ${what}`, () => {
      check(next);
    });
  }

  for (const [what, next, reason, ...parts] of [
    ['that is older', { producedAt: OLDER, permits: ['shrink'] }, 'older', OLDER, LIVE_AT, '--rollback'],
    [
      'that lacks an organization',
      { organizations: [north], permits: ['rollback'] },
      'organization-gone',
      '"south"',
      '--allow-shrink',
    ],
  ] satisfies [string, Partial<Manifest>, string, ...string[]][]) {
    it(`refuses a snapshot ${what}, and names it and a remedy, whatever else is permitted`, () => {
      for (const permits of [[], next.permits]) {
        const refusal = refusalOf({ ...next, permits });
        expect(refusal.reason).to.equal(reason);
        for (const part of parts) expect(refusal.message).to.include(part);
      }
    });
  }

  const shrunk = (counts: Partial<RecordCounts>, ofNorth: Partial<RecordCounts> = {}) => [
    organization('north', ofNorth),
    organization('south', counts),
  ];

  for (const name of ['tickets', 'orders'] as const) {
    it(`refuses a snapshot that lost more than half of at least 500 ${name}, and reports both counts`, () => {
      const half = Math.ceil(COUNTS[name] / 2);
      check({ organizations: shrunk({ [name]: half }) });
      const { reason, message } = refusalOf({
        organizations: shrunk({ [name]: half - 1 }),
        permits: ['rollback'],
      });
      expect(reason).to.equal('shrunk');
      expect(message)
        .to.match(new RegExp(`^it has ${half - 1} ${name} of organization "south", .* has ${COUNTS[name]};`))
        .and.include('--allow-shrink');
    });
  }

  it('refuses the loss of fewer records if all organizations lost more than half of at least 500', () => {
    check({ organizations: shrunk({ events: 0, sessions: 0, offers: 0 }, { events: 0 }) });
    check({ organizations: shrunk({ offers: 0 }, { offers: 300 }) });
    const message = (ofNorth: number) =>
      refusalOf({ organizations: shrunk({ offers: 0 }, { offers: ofNorth }) }).message;
    expect(message(299)).to.match(/^it has 0 offers of organization "south"/);
    expect(message(149)).to.match(/^it has 149 offers of organization "north"/);
  });

  it('refuses a snapshot without any record of an organization that had some', () => {
    const none = byCollection(() => 0);
    expect(refusalOf({ organizations: shrunk(none) }).message).to.match(/^it has 0 events of .*"south"/);
  });

  it('admits any loss from a snapshot of which it descends, whose build has checked it, unless it is older', () => {
    const ancestors = [{ snapshotId: 'live', producedAt: LIVE_AT }];
    check({ organizations: [], ancestors });
    expect(refusalOf({ organizations: [], ancestors, producedAt: OLDER }).reason).to.equal('older');
  });
});
