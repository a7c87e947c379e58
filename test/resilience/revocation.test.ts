import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { formatCredential } from '../../src/keys/credential.ts';
import { byDepth } from '../support/depth.ts';
import { MARK, markedReplicaForAll } from '../support/marked-replica.ts';
import { inOrganization, minimalTicket, times } from '../support/records.ts';

const ORGANIZATIONS = byDepth({ short: 3000, deep: 10_000 });
const THREADS = 2;
const CONNECTIONS = 8;
const SWAPS = 2;
const KEYS = byDepth({ short: 300, deep: 1500 });
/** The poll interval, and five times the 0.2 s that a revocation takes at most on a slow machine. */
const MAX_MS = 50 + 1000;

describe(`A revocation while ${ORGANIZATIONS} organizations swap under load`, () => {
  const ids = times(ORGANIZATIONS, (i) => `org-${i}`);
  const replica = markedReplicaForAll({
    organizations: ids.map((organizationId) => ({ organizationId })),
    tickets: ids.map((id) => inOrganization(id)(minimalTicket('t', { offerName: MARK }))),
  });
  const drafts: string[] = [];

  before(() => {
    // Beforehand, since it blocks the clients.
    for (let i = 0; i < SWAPS; i++) drafts.push(replica.draft());
    // The requests with revoked keys are no attack.
    return replica.start({ THREADS: String(THREADS), REFUSALS_PER_MINUTE: '0' });
  });

  const statusOf = async (credential: string) => (await replica.ask('/v1/tickets', credential)).status;

  it('is in force in all workers within the poll interval, and a new key afterwards', async () => {
    const { process } = replica;
    const keys = new KeysFile(replica.inFolder('keys.sqlite'));
    const created = times(KEYS, () => keys.create('org-7', '', new Date()));
    const [loading, ...revoked] = created.map((key) => ({ ...key, credential: formatCredential(key) }));
    while ((await statusOf(revoked[revoked.length - 1].credential)) !== 200) await delay(10);
    const done = new AbortController();
    const load = times(CONNECTIONS, async () => {
      while (!done.signal.aborted) expect(await statusOf(loading.credential)).to.equal(200);
    });
    const swaps = (async () => {
      for (const draft of drafts) {
        const seen = process.log.length;
        replica.place(draft);
        await process.waitForLog({ msg: 'snapshot live' }, seen);
      }
    })().finally(() => {
      done.abort();
    });
    const adminTimes: number[] = [];
    const operator = (async () => {
      while (!done.signal.aborted) {
        const start = performance.now();
        expect((await process.requestAdmin('/livez')).status).to.equal(200);
        adminTimes.push(performance.now() - start);
        await delay(5);
      }
    })();
    const revocationTimes: number[] = [];
    for (const { keyId, credential } of revoked) {
      if (done.signal.aborted) break;
      expect(await statusOf(credential)).to.equal(200);
      keys.revoke(keyId, new Date());
      const start = performance.now();
      // Several requests, since the workers share the connections.
      for (let refused = 0; refused < 4; refused++) {
        while ((await statusOf(credential)) !== 403) refused = 0;
      }
      revocationTimes.push(performance.now() - start);
    }
    await Promise.all([swaps, operator, ...load]);
    expect(revocationTimes.length).to.be.greaterThan(2);
    expect(Math.max(...revocationTimes)).to.be.below(MAX_MS);
    expect(Math.max(...adminTimes)).to.be.below(MAX_MS);
    const fresh = formatCredential(keys.create('org-7', '', new Date()));
    while ((await statusOf(fresh)) !== 200) await delay(10);
  });
});
