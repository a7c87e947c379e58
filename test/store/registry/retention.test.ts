import { expect } from 'chai';
import { OrganizationStore } from '../../../src/store/organization-store.ts';
import { type RetainedStore, storesToRetain } from '../../../src/store/registry/store-registry.ts';
import { emptyImage } from '../../support/empty-image.ts';

const MEGABYTE = 1024 * 1024;

describe('Retention of replaced stores', () => {
  /** Returns a store that was replaced at a time and holds slightly more than so many megabytes. */
  function retained(replacedAt: number, megabytes: number): RetainedStore {
    const image = emptyImage('north');
    const bytes = new Uint8Array(new SharedArrayBuffer(megabytes * MEGABYTE));
    const tickets = { ...image.tickets, records: { ...image.tickets.records, bytes } };
    const store = new OrganizationStore(
      { ...image, tickets, bytesHeld: bytes.length },
      { snapshotId: '', producedAt: '' },
    );
    return { store, file: 'a.sqlite', replacedAt };
  }
  const kept = (all: RetainedStore[], now: number, retainMs: number, liveMegabytes: number) =>
    [...storesToRetain(all, { now, retainMs, liveBytes: liveMegabytes * MEGABYTE })].map(
      ({ replacedAt }) => replacedAt,
    );

  it('covers stores that were replaced less than the time ago', () => {
    const all = [retained(0, 1), retained(100, 1), retained(101, 1), retained(200, 1)];
    expect(kept(all, 200, 100, 0)).to.have.members([101, 200]);
  });

  it('covers none when the time is 0', () => {
    expect(kept([retained(200, 1)], 200, 0, 0)).to.deep.equal([]);
  });

  it('covers the latest, up to the memory of the live stores', () => {
    const all = [retained(1, 30), retained(3, 50), retained(2, 40)];
    expect(kept(all, 4, 100, 100)).to.have.members([3, 2]);
    expect(kept(all, 4, 100, 130)).to.have.members([3, 2, 1]);
  });

  it('covers some megabytes in any case', () => {
    expect(kept([retained(1, 20), retained(2, 20), retained(3, 30)], 4, 100, 0)).to.have.members([3, 2]);
  });
});
