import { expect } from 'chai';
import type { RetainedSection } from '../../../src/store/registry/store-view.ts';
import fc from 'fast-check';
import { lastUseOf, noteUse } from '../../../src/store/organization-image.ts';
import { latestUsedFirst, type Retention } from '../../../src/store/registry/retention.ts';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { emptyList, emptySnapshot, WALKED, listIn } from '../../support/empty-image.ts';

const SECOND = 1000;

interface Replaced {
  /** Seconds of the monotonic clock. */
  readonly usedAt: number;
  readonly replacedAt?: number;
}

describe('Retention of a replaced list', () => {
  /** Replaces tickets, and returns the times of use of those that are retained at a time. */
  function kept(all: readonly Replaced[], at: number, retention: Retention = WALKED): number[] {
    let now = 0;
    const registry = new StoreRegistry(undefined, () => now);
    for (const [i, { usedAt, replacedAt = 0 }] of all.entries()) {
      registry.swap('a.sqlite', emptySnapshot(`a${i}`, `north=N${i}`));
      const tickets = registry.view.get('north')?.lists.tickets;
      if (tickets !== undefined) noteUse(tickets, usedAt * SECOND);
      now = replacedAt * SECOND;
      registry.swap('a.sqlite', emptySnapshot('a', 'north'));
      registry.releaseExpired(WALKED);
    }
    now = at * SECOND;
    registry.releaseExpired(retention);
    return registry.retained.map(({ image }) => lastUseOf(image, now) / SECOND);
  }

  it('counts from the last use, whenever the list was replaced', () => {
    const retention = { ...WALKED, snapshotRetainSeconds: 100 };
    const all = [
      { usedAt: 50, replacedAt: 199 },
      { usedAt: 100, replacedAt: 150 },
      { usedAt: 101, replacedAt: 20 },
      { usedAt: 200, replacedAt: 10 },
    ];
    expect(kept(all, 200, retention)).to.have.members([101, 200]);
  });

  it('ends a time after the replacement, however often the list is used', () => {
    const retention = { ...WALKED, snapshotRetainSeconds: 100, snapshotRetainMaxSeconds: 150 };
    const all = [
      { usedAt: 199, replacedAt: 50 },
      { usedAt: 200, replacedAt: 51 },
    ];
    expect(kept(all, 200, retention)).to.deep.equal([200]);
  });

  it('is never shorter than the time, to the millisecond', () => {
    const retention = { ...WALKED, snapshotRetainSeconds: 1.5 };
    for (const usedAt of [7, 7.001, 7.5, 7.999]) {
      expect(kept([{ usedAt }], usedAt + 1.499, retention), `${usedAt}`).to.have.length(1);
      expect(kept([{ usedAt }], usedAt + 2.5, retention), `${usedAt}`).to.have.length(0);
    }
  });

  it('does not begin when the time is 0', () => {
    expect(kept([{ usedAt: 200 }], 200, { ...WALKED, snapshotRetainSeconds: 0 })).to.deep.equal([]);
    expect(kept([{ usedAt: 200 }], 200, { ...WALKED, snapshotRetainMaxSeconds: 0 })).to.deep.equal([]);
  });

  it('lasts a time after the replacement without a use', () => {
    let now = 0;
    const registry = new StoreRegistry(undefined, () => now);
    for (const content of ['N1', 'N2']) registry.swap('a.sqlite', emptySnapshot(content, `north=${content}`));
    const retention = { ...WALKED, snapshotRetainUnwalkedSeconds: 30 };
    for (const [seconds, isHeld] of [
      [29.999, true],
      [30, false],
    ] as const) {
      now = seconds * SECOND;
      registry.releaseExpired(retention);
      expect(listIn(registry.view, 'north', 'tickets', 'N1') !== undefined).to.equal(isHeld);
    }
  });

  const used = (organizationId: string, usedAt: number): RetainedSection => {
    const image = emptyList('tickets', `${usedAt}`);
    noteUse(image, usedAt * SECOND);
    return { organizationId, image, snapshotId: '', producedAt: '', file: '', replacedAt: 0 };
  };

  it('prefers the first walk of each organization to the second of any, and so on, and last what none uses', () => {
    const all = [
      ...[11, 14, 12, 0, 13].map((usedAt) => used('north', usedAt)),
      ...[1, 2].map((usedAt) => used('south', usedAt)),
      ...[0, 0].map((usedAt) => used('west', usedAt)),
    ];
    const inOrder = latestUsedFirst(all, 0).map(({ image }) => Number(image.digest));
    expect(inOrder).to.deep.equal([14, 2, 13, 1, 12, 11, 0, 0, 0]);
  });

  it('keeps as many walks of an organization as fit, up to those of any other, whatever the others walk', () => {
    const walks = fc.array(
      fc.record({ organization: fc.constantFrom('a', 'b', 'c'), at: fc.integer({ min: 1, max: 9 }) }),
    );
    fc.assert(
      fc.property(walks, fc.nat(30), (all, room) => {
        const ranked = latestUsedFirst(
          all.map(({ organization, at }) => used(organization, at)),
          0,
        );
        expect(ranked).to.have.length(all.length);
        const kept = ranked.slice(0, room);
        const lost = ranked.slice(room);
        const countOf = (id: string) => kept.filter(({ organizationId }) => organizationId === id).length;
        for (const { organizationId, image } of lost) {
          const own = kept.filter((one) => one.organizationId === organizationId);
          for (const one of own) expect(lastUseOf(one.image, 0)).to.be.at.least(lastUseOf(image, 0));
          for (const other of ['a', 'b', 'c']) expect(countOf(other)).to.be.at.most(own.length + 1);
        }
      }),
    );
  });
});
