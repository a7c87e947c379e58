import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { BenchContext } from '../bench-context.ts';
import { LoadGenerator } from '../load/load-generator.ts';
import { MIXED_TRAFFIC, mixedTargets } from '../load/request-kinds.ts';
import { median, ratioRow, type Row } from '../rows.ts';
import { Proxy, type ProxyProgram } from '../servers/proxy.ts';
import type { Replica } from '../servers/replica.ts';

/** The limits of an address in deploy/, which are far below the load. */
const UNREACHED_LIMITS: Readonly<Record<ProxyProgram, Readonly<Record<string, string>>>> = {
  nginx: { 'rate=200r/s': 'rate=1000000r/s' },
  haproxy: { 'http_req_rate gt 2400': 'http_req_rate gt 100000000' },
};
/** All requests are of one organization, and go to one replica without it. */
const BOUND = { '#hash-balance-factor 150': 'hash-balance-factor 105' };

/** Measures requests a second through the proxies of deploy/, and of two replicas behind HAProxy. */
export async function measureProxies(context: BenchContext): Promise<Row[]> {
  const { folder, sizes, signal } = context.options;
  const setups = [
    { name: 'HAProxy before one replica', program: 'haproxy', replicas: 1, atLeast: 0.8 },
    { name: 'nginx before one replica', program: 'nginx', replicas: 1, atLeast: 0.8 },
    { name: 'HAProxy before two replicas', program: 'haproxy', replicas: 2, atLeast: 1 },
  ] as const;
  const installed = setups.filter(({ name, program }) => {
    const isInstalled = spawnSync(program, ['-v']).error === undefined;
    if (!isInstalled) console.error(`${name} is not measured, since ${program} is not installed.`);
    return isInstalled;
  });
  await using stack = new AsyncDisposableStack();
  const generator = stack.use(new LoadGenerator(signal));
  const alone = stack.use(await context.startReplica());
  const replicas = [alone, stack.use(await context.startReplica({ key: alone }))];
  const proxies: Proxy[] = [];
  for (const [i, { program, replicas: count }] of installed.entries()) {
    const upstreams = replicas
      .slice(0, count)
      .map(({ port, adminPort }, at) => ({ id: at + 1, port, adminPort }));
    const edits = { ...UNREACHED_LIMITS[program], ...(count > 1 && BOUND) };
    const options = { folder: join(folder, `proxy-${i}`), shards: [upstreams], hasTls: false, edits };
    proxies.push(stack.use(await Proxy.start(program, options)));
  }

  const traffic = alone.traffic(mixedTargets(await context.snapshot()));
  const measure = async ({ port }: Proxy | Replica) =>
    (await generator.measurePeak(alone, { ...traffic, port }, sizes.seconds)).perSecond;
  const rounds = await context.rounds('proxies', async () => {
    const direct = await measure(alone);
    const through = [];
    for (const proxy of proxies) {
      const before = proxy.processorMs();
      const perSecond = await measure(proxy);
      const microseconds = ((proxy.processorMs() - before) * 1000) / (perSecond * sizes.seconds);
      through.push({ perSecond, microseconds });
    }
    return { direct, through };
  });
  return installed.map(({ name, atLeast }, i) =>
    ratioRow({
      name: `${name}, against one alone`,
      note:
        `for ${MIXED_TRAFFIC}, by HTTP/1.1 without TLS, all on the same processors; the proxy used ` +
        `${Math.round(median(rounds.map(({ through }) => through[i].microseconds)))} µs of processor time for a request`,
      unit: 'requests/s',
      reach: { atLeast },
      pairs: rounds.map(({ direct, through }) => [through[i].perSecond, direct]),
    }),
  );
}
