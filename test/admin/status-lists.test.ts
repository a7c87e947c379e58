import { expect } from 'chai';
import { keysPage, listQuery, organizationsPage, summaryOf } from '../../src/admin/status.ts';
import { Problem } from '../../src/http/response/problem.ts';
import { emptyImage } from '../support/empty-image.ts';
import { NOW, operationsForEach, snapshotOf } from '../support/admin-operations.ts';

describe('The lists of the status in pages', () => {
  const operations = operationsForEach();
  const organizations = (query: Record<string, string>) => organizationsPage(operations, listQuery(query));
  const keys = (query: Record<string, string>) => keysPage(operations, listQuery(query));

  it('have the live organizations of all files by id, with counts and file', () => {
    operations.stores.swap('b.sqlite', snapshotOf('s2', new Date(NOW).toISOString(), emptyImage('opera')));
    const { items, ...rest } = organizations({});
    expect(rest).to.deep.equal({ page: 1, totalPages: 1, total: 4 });
    expect(items.map(({ organizationId, file }) => [organizationId, file])).to.deep.equal([
      ['north', 'main.sqlite'],
      ['opera', 'b.sqlite'],
      ['south', 'main.sqlite'],
      ['void', 'main.sqlite'],
    ]);
    expect(items[0]).to.deep.include({
      records: { events: 5, sessions: 7, tickets: 57, orders: 3, offers: 4 },
    });
  });

  it('have 10 items a page; a page beyond the last one is empty', () => {
    const images = Array.from({ length: 27 }, (_, i) => emptyImage(`org_${String(i).padStart(2, '0')}`));
    operations.stores.swap('b.sqlite', snapshotOf('s2', new Date(NOW).toISOString(), ...images));
    const idsOf = (page: string) =>
      organizations({ search: 'ORG_', page }).items.map(({ organizationId }) => organizationId);
    const walked = ['1', '2', '3'].map(idsOf);
    expect(walked.map(({ length }) => length)).to.deep.equal([10, 10, 7]);
    expect(walked.flat()).to.deep.equal(images.map(({ organizationId }) => organizationId));
    expect(idsOf('4')).to.deep.equal([]);
    expect(organizations({ search: 'org_', page: '4' })).to.deep.include({ totalPages: 3, total: 27 });
  });

  it('have the keys whose id, organization or label contains the text, in any case', () => {
    const row = { digest: new Uint8Array(32), expiresAt: null, revokedAt: null };
    operations.keys.current = [
      { ...row, keyId: 'key_a', organizationId: 'north', label: 'Till' },
      { ...row, keyId: 'key_b', organizationId: 'untilled', label: '' },
      { ...row, keyId: 'key_c', organizationId: 'north', label: '' },
    ];
    const idsOf = (search: string) => keys({ search }).items.map(({ keyId }) => keyId);
    expect(idsOf('tILL')).to.deep.equal(['key_a', 'key_b']);
    expect(idsOf('KEY_C')).to.deep.equal(['key_c']);
    expect(idsOf('')).to.have.length(3);
    expect(idsOf('none')).to.deep.equal([]);
    operations.keys.current = undefined;
    expect(keys({})).to.deep.equal({ items: [], page: 1, totalPages: 0, total: 0 });
  });

  it('refuse invalid parameters', () => {
    for (const query of [{ page: '0' }, { page: '1.5' }, { page: '' }, { search: ['a', 'b'] }])
      expect(() => listQuery(query), JSON.stringify(query)).to.throw(Problem, 'whole number from 1 on');
  });
});

describe('The summary of the status', () => {
  const operations = operationsForEach();

  it('has totals in place of lists that grow with the number of organizations', () => {
    const { stores } = operations;
    const { snapshots, retainedSnapshots, keys } = summaryOf(operations);
    expect(keys).not.to.have.property('list');
    expect(retainedSnapshots).to.deep.equal([]);
    expect(snapshots[0]).to.deep.include({
      organizationCount: 3,
      records: { events: 7, sessions: 9, tickets: 58, orders: 4, offers: 5 },
      bytesHeld: stores.liveBytes,
    });
    expect(snapshots[0]).not.to.have.property('organizations');
  });

  it('shows replaced snapshots, each with the walks that use it', () => {
    const { stores } = operations;
    const [{ snapshotId }] = summaryOf(operations).snapshots;
    const bytes = stores.liveBytes;
    const images = ['north', 'south', 'void'].map((id) => emptyImage(id));
    stores.swap('main.sqlite', snapshotOf('s2', new Date(NOW).toISOString(), ...images));
    const { retainedSnapshots } = summaryOf(operations);
    expect(retainedSnapshots).to.have.length(1);
    expect(retainedSnapshots[0]).to.deep.include({ file: 'main.sqlite', snapshotId, organizationCount: 3 });
    expect(retainedSnapshots[0].bytesHeld).to.be.within(1, bytes);
  });
});
