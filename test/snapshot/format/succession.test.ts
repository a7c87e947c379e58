import { expect } from 'chai';
import type { ListName } from '../../../src/contract/operations.ts';
import { checkSuccession } from '../../../src/snapshot/format/succession.ts';
import { byList, COLLECTIONS } from '../../../src/snapshot/format/layout.ts';
import type {
  Manifest,
  ManifestOrganization,
  Permit,
  RecordCounts,
} from '../../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { declaration } from '../../support/empty-image.ts';

const LIVE_AT = '2026-11-21T10:00:00.000Z';
const COUNTS: RecordCounts = { events: 10, sessions: 20, tickets: 101, orders: 50, offers: 0 };

function organization(
  organizationId: string,
  counts: Partial<Record<ListName, number>> = {},
): ManifestOrganization {
  const all = { ...COUNTS, deletions: 0, ...counts };
  const runs = byList(({ name }) => [{ firstRow: 0, recordCount: all[name], recordBytes: 0, digest: '' }]);
  return declaration(organizationId, runs);
}

interface Next {
  readonly producedAt?: string;
  readonly permits?: readonly Permit[];
  readonly organizations?: readonly ManifestOrganization[];
}

/** Checks a snapshot against a live one of the organizations north and south. Returns the refusal, or undefined. */
function refusal({ producedAt = LIVE_AT, permits = [], organizations }: Next): RefusedSnapshot | undefined {
  const next: Manifest = {
    snapshotId: 'next',
    producedAt,
    hasCanonicalRuns: true,
    permits,
    organizations: organizations ?? [organization('north'), organization('south')],
  };
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
  it('admits a snapshot as new and as large as the live one', () => {
    expect(refusal({})).to.equal(undefined);
  });

  it('admits new organizations and records', () => {
    const grown = organization('north', { tickets: 1000, offers: 7 });
    expect(refusal({ organizations: [grown, organization('south'), organization('west')] })).to.equal(
      undefined,
    );
  });

  describe('refuses an older snapshot', () => {
    it('by its instant, not its text', () => {
      expect(refusal({ producedAt: '2026-11-21T09:59:59.999999Z' })).to.have.property('reason', 'older');
      expect(refusal({ producedAt: '2026-11-21T10:00:00Z' })).to.equal(undefined);
    });

    it('and reports both times and a remedy', () => {
      const { message } = refusal({ producedAt: '2026-11-20T10:00:00Z' }) ?? {};
      expect(message).to.include('2026-11-20T10:00:00Z').and.include(LIVE_AT).and.include('--rollback');
    });

    it('but not with the permit to roll back', () => {
      expect(refusal({ producedAt: '2026-11-20T10:00:00Z', permits: ['rollback'] })).to.equal(undefined);
      expect(refusal({ producedAt: '2026-11-20T10:00:00Z', permits: ['shrink'] })).to.have.property(
        'reason',
        'older',
      );
    });
  });

  describe('refuses a snapshot that lacks an organization', () => {
    const organizations = [organization('north')];

    it('and names it', () => {
      const found = refusal({ organizations });
      expect(found).to.have.property('reason', 'organization-gone');
      expect(found?.message).to.include('"south"').and.include('--allow-shrink');
    });

    it('but not with the permit to shrink', () => {
      expect(refusal({ organizations, permits: ['shrink'] })).to.equal(undefined);
      expect(refusal({ organizations, permits: ['rollback'] })).to.have.property(
        'reason',
        'organization-gone',
      );
    });
  });

  describe('refuses a collection that lost more than half', () => {
    for (const { name } of COLLECTIONS.filter(({ name }) => COUNTS[name] > 0)) {
      it(`of ${name}, and reports both counts`, () => {
        const half = Math.ceil(COUNTS[name] / 2);
        const north = organization('north');
        const shrunk = (count: number) => [north, organization('south', { [name]: count })];
        expect(refusal({ organizations: shrunk(half) })).to.equal(undefined);
        const found = refusal({ organizations: shrunk(half - 1) });
        expect(found).to.have.property('reason', 'shrunk');
        expect(found?.message)
          .to.match(
            new RegExp(`^it has ${half - 1} ${name} of organization "south", .* has ${COUNTS[name]};`),
          )
          .and.include('--allow-shrink');
      });
    }

    it('but not with the permit to shrink', () => {
      const organizations = [organization('north', { tickets: 0 }), organization('south')];
      expect(refusal({ organizations, permits: ['shrink'] })).to.equal(undefined);
    });
  });
});
