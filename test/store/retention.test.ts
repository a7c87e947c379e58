import { expect } from 'chai';
import { OrganizationStore } from '../../src/store/organization-store.ts';
import { type RetainedOrganization, storesToRetain } from '../../src/store/registry/store-registry.ts';
import { emptyImage } from './empty-image.ts';

const MEGABYTE = 1024 * 1024;

describe('What is kept of replaced stores', () => {
  /** Replaced at this moment, holding so many megabytes, and little more. */
  function retained(replacedAt: number, megabytes: number): RetainedOrganization {
    const image = emptyImage('north');
    const bytes = new Uint8Array(new SharedArrayBuffer(megabytes * MEGABYTE));
    const tickets = { ...image.tickets, records: { ...image.tickets.records, bytes } };
    const store = new OrganizationStore(
      { ...image, tickets, bytesHeld: bytes.length },
      { snapshotId: '', producedAt: '' },
    );
    return { store, file: 'a.sqlite', replacedAt };
  }
  const kept = (all: RetainedOrganization[], now: number, retainMs: number, liveMegabytes: number) =>
    [...storesToRetain(all, { now, retainMs, liveBytes: liveMegabytes * MEGABYTE })].map(
      ({ replacedAt }) => replacedAt,
    );

  it('is what was replaced less than the time ago', () => {
    const all = [retained(0, 1), retained(100, 1), retained(101, 1), retained(200, 1)];
    expect(kept(all, 200, 100, 0)).to.have.members([101, 200]);
  });

  it('is nothing when no time is given', () => {
    expect(kept([retained(200, 1)], 200, 0, 0)).to.deep.equal([]);
  });

  it('is the latest, as long as they hold no more than what is live', () => {
    const all = [retained(1, 30), retained(3, 50), retained(2, 40)];
    expect(kept(all, 4, 100, 100)).to.have.members([3, 2]);
    expect(kept(all, 4, 100, 130)).to.have.members([3, 2, 1]);
  });

  it('is some megabytes in any case', () => {
    expect(kept([retained(1, 20), retained(2, 20), retained(3, 30)], 4, 100, 0)).to.have.members([3, 2]);
  });
});
