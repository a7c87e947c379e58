import { mock } from 'node:test';
import { expect } from 'chai';
import { RefusalBudget } from '../../../src/http/checks/refusal-budget.ts';
import { newNetworksMemory } from '../../../src/counts/networks.ts';
import { noSuchPath } from '../../../src/http/response/problem.ts';
import { readableLog, type ReadableLog, SILENT } from '../../support/readable-log.ts';
import { givenApi, ownNetworks, TestApi } from '../../support/test-api.ts';

const LOGGED_PER_MINUTE = 100;

const NO_SUCH_PATH = noSuchPath([]);

describe('The budget of refusals', () => {
  const BUDGET = 5;
  const counts = ownNetworks();
  const given = givenApi(() => ({
    config: { trustProxy: ['127.0.0.1'] },
    refusals: new RefusalBudget(BUDGET, counts, SILENT),
  }));
  const from = (address: string) => ({ 'X-Forwarded-For': address });
  const refuse = async (address: string, target = '/v1/events') =>
    await given.api.send(target, { as: undefined, headers: from(address) });
  async function spend(address: string): Promise<void> {
    for (let i = 0; i < BUDGET; i++) expect((await refuse(address)).status).to.equal(400);
  }

  it('replaces refusals beyond it by a 429 that closes the connection', async () => {
    await spend('192.0.2.1');
    for (const target of ['/v1/events', '/v1/none', '/none']) {
      const { status, headers, body } = await refuse('192.0.2.1', target);
      expect(status).to.equal(429);
      expect(headers).to.include({ 'retry-after': '60', connection: 'close' });
      expect(body.detail).to.match(/without a valid API key/);
    }
  });

  it('does not affect a valid key, health checks and documents', async () => {
    await spend('192.0.2.2');
    const headers = from('192.0.2.2');
    expect(await given.api.send('/v1/events', { headers })).to.include({ status: 200 });
    expect(await given.api.send('/v1/events?page=0', { headers })).to.include({ status: 400 });
    expect(await given.api.send('/v1/none', { headers })).to.include({ status: 429 });
    for (const target of ['/healthz', '/openapi.json'])
      expect(await refuse('192.0.2.2', target)).to.include({ status: 200 });
  });

  it('is that of an IPv4 address, or of an IPv6 /64', async () => {
    await spend('2001:db8:1:2::1');
    expect(await refuse('2001:db8:1:2:ffff::9')).to.include({ status: 429 });
    expect(await refuse('2001:db8:1:3::1')).to.include({ status: 400 });
    await spend('192.0.2.3');
    expect(await refuse('::ffff:192.0.2.3')).to.include({ status: 429 });
    expect(await refuse('192.0.2.4')).to.include({ status: 400 });
  });

  it('also counts input that is not a request', async () => {
    for (let i = 0; i < BUDGET; i++)
      expect(await given.api.raw('nonsense\r\n\r\n', '127.0.0.9')).to.match(/^HTTP\/1\.1 400 /);
    expect(await given.api.raw('nonsense\r\n\r\n', '127.0.0.9')).to.match(
      /^HTTP\/1\.1 429 [^]*Connection: close/,
    );
  });

  it('is shared by all workers, and starts again after a minute', () => {
    let now = 0;
    const shared = newNetworksMemory();
    const [first, second] = [1, 2].map(
      () => new RefusalBudget(BUDGET, ownNetworks(shared), SILENT, () => now),
    );
    for (let i = 0; i < BUDGET; i++) first.apply(NO_SUCH_PATH, '192.0.2.1');
    expect(second.apply(NO_SUCH_PATH, '192.0.2.1').problem.status).to.equal(429);
    now = 60_000;
    expect(second.apply(NO_SUCH_PATH, '192.0.2.1').problem).to.equal(NO_SUCH_PATH);
  });

  it('of 0 is unlimited', () => {
    const budget = new RefusalBudget(0, ownNetworks(), SILENT);
    for (let i = 0; i < 1000; i++)
      expect(budget.apply(NO_SUCH_PATH, '192.0.2.1').problem).to.equal(NO_SUCH_PATH);
  });

  it('does not count a response with 429 for another reason', async () => {
    const refusals = new RefusalBudget(2, ownNetworks(), SILENT);
    await using api = await TestApi.start({ keys: () => undefined, refusals });
    for (let i = 0; i < 5; i++)
      expect((await api.send('/v1/events', { as: undefined })).body.detail).to.include('not ready');
  });
});

describe('The log of refusals', () => {
  let budget: RefusalBudget;
  let lines: ReadableLog['lines'];

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    const readable = readableLog();
    lines = readable.lines;
    budget = new RefusalBudget(0, ownNetworks(), readable.log);
  });
  afterEach(() => {
    mock.timers.reset();
  });

  it('has a line for the first ones of a network, and every minute one summary of the others', () => {
    const isLogged = Array.from({ length: 130 }, () => budget.apply(NO_SUCH_PATH, '192.0.2.1').isLogged);
    expect(isLogged.filter(Boolean)).to.have.length(LOGGED_PER_MINUTE);
    budget.apply(NO_SUCH_PATH, '192.0.2.2');
    mock.timers.tick(59_999);
    expect(lines).to.deep.equal([]);
    mock.timers.tick(1);
    mock.timers.tick(60_000);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ network: '192.0.2.1', requests: 30, level: 'warn' });
    expect(lines[0]).to.include({ msg: 'refused requests without a valid key' });
  });

  it('adds up the networks beyond a number', () => {
    for (let network = 0; network < 150; network++)
      for (let i = 0; i <= LOGGED_PER_MINUTE; i++) budget.apply(NO_SUCH_PATH, `192.0.2.${network}`);
    budget.logSummaries();
    expect(lines).to.have.length(101);
    expect(lines.at(-1)).to.include({ network: 'others' });
    const sum = lines.reduce((total, { requests }) => total + Number(requests), 0);
    expect(sum).to.equal(150);
  });

  it('has no line for a request beyond the first ones', async () => {
    await using api = await TestApi.start();
    for (let i = 0; i < LOGGED_PER_MINUTE + 20; i++) await api.send('/v1/events', { as: undefined });
    expect(api.logged.filter(({ msg }) => msg === 'request')).to.have.length(LOGGED_PER_MINUTE);
  });
});
