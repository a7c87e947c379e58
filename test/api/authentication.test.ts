import { expect } from 'chai';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { digestOf } from '../../src/keys/credential.ts';
import { KeyRing } from '../../src/keys/key-ring.ts';
import { fixture } from '../support/api-fixture.ts';
import { givenApi, NOW } from '../support/test-api.ts';

describe('Authentication', () => {
  const given = givenApi();
  const as = undefined;

  it('requires a key for every operation', async () => {
    for (const { path } of OPERATIONS) {
      const { status, body } = await given.api.send(path.replace(/\{\w+\}/, 'x'), { as });
      expect(status, path).to.equal(400);
      expect(body.detail).to.include('missing');
    }
  });

  it('is 400 for two headers, even equal ones', async () => {
    const line = `Authorization: ${(await fixture()).authorization.north}`;
    const send = (...lines: string[]) => given.api.rawLines('GET /v1/events HTTP/1.1', 'Host: x', ...lines);
    expect(await send(line)).to.match(/^HTTP\/1.1 200 /);
    expect(await send(line, line)).to.match(/^HTTP\/1.1 400 /);
  });
});

describe('A key', () => {
  const SECRET = 'a-secret';
  const END = '2026-11-21T12:30:00.000Z';
  const row = {
    keyId: 'key_a',
    organizationId: 'north',
    label: '',
    digest: Buffer.from(digestOf(SECRET), 'hex'),
    expiresAt: END,
    revokedAt: null,
  };
  const uses: unknown[] = [];
  const given = givenApi(() => ({
    keys: () => new KeyRing([row]),
    noteKeyUse: (slot, now) => uses.push([slot, now]),
  }));

  const send = async (now: number, target: string, secret = SECRET) => {
    given.api.clock.now = now;
    const headers = { Authorization: `Bearer svc:o:north:${secret}` };
    const { status, body } = await given.api.send(target, { as: undefined, headers });
    return [status, body.detail];
  };

  it('is refused as expired from its expiry on', async () => {
    const end = Date.parse(END);
    expect(await send(end - 1, '/v1/events/evt_a')).to.deep.equal([200, undefined]);
    expect(await send(end, '/v1/events/evt_a')).to.deep.equal([403, 'The API key has expired.']);
  });

  it('is noted as used at the time of each request that it authenticates', async () => {
    uses.length = 0;
    await send(NOW, '/v1/events?page=0');
    await send(NOW + 1, '/v1/events', 'guess');
    await send(Date.parse(END), '/v1/events');
    await send(NOW + 2, '/v1/events/none');
    expect(uses).to.deep.equal([
      [0, NOW],
      [0, NOW + 2],
    ]);
  });
});
