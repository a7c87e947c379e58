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

type Next = Partial<Manifest>;

/** Checks a snapshot against a live one of the organizations north and south. Returns the refusal, or undefined. */
function refusal(changed: Next): RefusedSnapshot | undefined {
  const next = manifest('next', {
    producedAt: LIVE_AT,
    organizations: [organization('north'), organization('south')],
    ...changed,
  });
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

type Refused = [what: string, next: Next, permit: Permit, reason: string, ...named: string[]];

describe('The succession check', () => {
  const [north, south] = ['north', 'south'].map((id) => organization(id));
  const OLDER = '2026-11-21T09:59:59.999999Z';
  const withoutTickets = [organization('north', { tickets: 0 }), south];

  for (const [what, next] of Object.entries<Next>({
    'as new and as large as the live one': {},
    'of the same instant in another form': { producedAt: '2026-11-21T10:00:00Z' },
    'with new organizations and records': {
      organizations: [organization('north', { tickets: 1000, offers: 7 }), south, organization('west')],
    },
    'that is older, with the permit to roll back': { producedAt: OLDER, permits: ['rollback'] },
    'with half of each collection': {
      organizations: [
        north,
        organization(
          'south',
          byCollection(({ name }) => Math.ceil(COUNTS[name] / 2)),
        ),
      ],
    },
    'without an organization, with the permit to shrink': { organizations: [north], permits: ['shrink'] },
    'without a collection, with the permit to shrink': { organizations: withoutTickets, permits: ['shrink'] },
  })) {
    it(`admits a snapshot ${what}`, () => {
      expect(refusal(next)).to.equal(undefined);
    });
  }

  for (const [what, next, permit, expected, ...named] of [
    [
      'is older, and states both times',
      { producedAt: OLDER },
      'shrink',
      'older',
      OLDER,
      LIVE_AT,
      '--rollback',
    ],
    [
      'lacks an organization, and names it',
      { organizations: [north] },
      'rollback',
      'organization-gone',
      '"south"',
      '--allow-shrink',
    ],
    ...COLLECTIONS.filter(({ name }) => COUNTS[name] > 0).map(({ name }): Refused => {
      const left = Math.ceil(COUNTS[name] / 2) - 1;
      return [
        `has less than half of the ${name}, and states both counts`,
        { organizations: [north, organization('south', { [name]: left })] },
        'rollback',
        'shrunk',
        `it has ${left} ${name} of organization "south", `,
        ` has ${COUNTS[name]};`,
        '--allow-shrink',
      ];
    }),
  ] satisfies Refused[]) {
    it(`refuses a snapshot that ${what}`, () => {
      for (const permits of [[], [permit]]) {
        const { reason, message } = refusal({ ...next, permits }) ?? {};
        expect(reason).to.equal(expected);
        for (const text of named) expect(message).to.include(text);
      }
    });
  }
});
