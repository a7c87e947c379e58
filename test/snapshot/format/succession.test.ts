import { expect } from 'chai';
import type { CollectionName } from '../../../src/contract/operations.ts';
import { byCollection, COLLECTIONS } from '../../../src/snapshot/format/layout.ts';
import type { Manifest, RecordCounts } from '../../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { checkSuccession } from '../../../src/snapshot/format/succession.ts';
import { declaration, manifest } from '../../support/empty-image.ts';
import { thrownBy } from '../../support/refusal.ts';

const LIVE_AT = '2026-11-21T10:00:00.000Z';
const OLDER = '2026-11-21T09:59:59.999999Z';
const COUNTS: RecordCounts = { events: 10, sessions: 20, tickets: 101, orders: 50, offers: 0 };

function organization(organizationId: string, counts: Partial<Record<CollectionName, number>> = {}) {
  const all = { ...COUNTS, ...counts };
  const runs = byCollection(({ name }) => [
    { firstRow: 0, recordCount: all[name], recordBytes: 0, digest: '', changesDigest: '' },
  ]);
  return declaration(organizationId, runs);
}

const [north, south] = ['north', 'south'].map((id) => organization(id));

/** Checks a snapshot against a live one of the organizations north and south. */
function check(changed: Partial<Manifest>): void {
  const next = manifest('next', { producedAt: LIVE_AT, organizations: [north, south], ...changed });
  const live = [north, south].map(({ organizationId }) => ({
    organizationId,
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

  for (const { name } of COLLECTIONS.filter(({ name }) => COUNTS[name] > 0)) {
    it(`refuses a snapshot that lost more than half of the ${name}, and reports both counts`, () => {
      const half = Math.ceil(COUNTS[name] / 2);
      const shrunk = (count: number) => [north, organization('south', { [name]: count })];
      check({ organizations: shrunk(half) });
      const { reason, message } = refusalOf({ organizations: shrunk(half - 1), permits: ['rollback'] });
      expect(reason).to.equal('shrunk');
      expect(message)
        .to.match(new RegExp(`^it has ${half - 1} ${name} of organization "south", .* has ${COUNTS[name]};`))
        .and.include('--allow-shrink');
    });
  }
});
