import { expect } from 'chai';
import { checkSuccession } from '../../../src/snapshot/format/succession.ts';
import type { CollectionName } from '../../../src/contract/operations.ts';
import { byCollection, COLLECTIONS } from '../../../src/snapshot/format/layout.ts';
import type {
  Manifest,
  ManifestOrganization,
  Permit,
  RecordCounts,
} from '../../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { declaration, manifest } from '../../support/empty-image.ts';

const LIVE_AT = '2026-11-21T10:00:00.000Z';
const COUNTS: RecordCounts = { events: 10, sessions: 20, tickets: 101, orders: 50, offers: 0 };

function organization(
  organizationId: string,
  counts: Partial<Record<CollectionName, number>> = {},
): ManifestOrganization {
  const all = { ...COUNTS, ...counts };
  const runs = byCollection(({ name }) => [
    { firstRow: 0, recordCount: all[name], recordBytes: 0, digest: '', changesDigest: '' },
  ]);
  return declaration(organizationId, runs);
}

/** Checks a snapshot against a live one of the organizations north and south. Returns the refusal, or undefined. */
function refusal(changed: Partial<Manifest>): RefusedSnapshot | undefined {
  const organizations = [organization('north'), organization('south')];
  const next = manifest('next', { producedAt: LIVE_AT, organizations, ...changed });
  const live = ['north', 'south'].map((organizationId) => ({
    organizationId,
    producedAt: LIVE_AT,
    counts: COUNTS,
  }));
  try {
    checkSuccession(next, live);
  } catch (error) {
    if (error instanceof RefusedSnapshot) return error;
    throw error;
  }
  return undefined;
}

describe('The succession check', () => {
  const [north, south] = ['north', 'south'].map((id) => organization(id));
  const OLDER = '2026-11-21T09:59:59.999999Z';
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
      expect(refusal(next)).to.equal(undefined);
    });
  }

  it('refuses an older snapshot, and reports both times and a remedy', () => {
    for (const permits of [[], ['shrink']] satisfies Permit[][]) {
      const { reason, message } = refusal({ producedAt: OLDER, permits }) ?? {};
      expect(reason).to.equal('older');
      expect(message).to.include(OLDER).and.include(LIVE_AT).and.include('--rollback');
    }
  });

  it('refuses a snapshot that lacks an organization, and names it', () => {
    for (const permits of [[], ['rollback']] satisfies Permit[][]) {
      const { reason, message } = refusal({ organizations: [north], permits }) ?? {};
      expect(reason).to.equal('organization-gone');
      expect(message).to.include('"south"').and.include('--allow-shrink');
    }
  });

  for (const { name } of COLLECTIONS.filter(({ name }) => COUNTS[name] > 0)) {
    it(`refuses a snapshot that lost more than half of the ${name}, and reports both counts`, () => {
      const half = Math.ceil(COUNTS[name] / 2);
      const shrunk = (count: number) => [north, organization('south', { [name]: count })];
      expect(refusal({ organizations: shrunk(half) })).to.equal(undefined);
      const { reason, message } = refusal({ organizations: shrunk(half - 1), permits: ['rollback'] }) ?? {};
      expect(reason).to.equal('shrunk');
      expect(message)
        .to.match(new RegExp(`^it has ${half - 1} ${name} of organization "south", .* has ${COUNTS[name]};`))
        .and.include('--allow-shrink');
    });
  }
});
