import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { itDeep } from '../support/depth.ts';
import { folderForEach } from '../support/temporary-folder.ts';
import { Command, run } from '../support/command.ts';

const BENCH = 'scripts/bench/bench.ts';
/** The smallest sizes that every group can measure. */
const TINY = [
  ...['--tickets', '500', '--large-tickets', '2000', '--events', '20'],
  ...['--rounds', '1', '--seconds', '0.1', '--swaps', '4', '--json'],
];

type Reach = { readonly atMost: number } | { readonly atLeast: number };

interface Output {
  readonly conditions: Readonly<Record<string, number | string>>;
  readonly rows: readonly {
    readonly name: string;
    readonly note: string;
    readonly reach: Reach;
    readonly measured: number;
    readonly spread: readonly [number, number];
    readonly isReached: boolean;
  }[];
}

/** Some rows of each run. */
const RUNS: readonly (readonly [args: string, ...rows: string[]])[] = [
  [
    'latency streams',
    'request p99 at 70 % of the peak, against bare',
    'bytes a second of a stream of 500 tickets, against bare',
    'request p99 beside two streams',
  ],
  [
    'requests',
    ...['bare', 'Express alone', 'the usual way', 'the rival', 'the rival with remembered totals'].map(
      (server) => `304 for one ticket, against ${server}`,
    ),
    'page of 50 of a new window, against the usual way',
    'walk through the orders of 10 events, against bare',
    'offers of an event cut to a session, against bare',
  ],
  ['requests --against . --only one', 'one ticket, against the other checkout'],
  [
    'changes',
    'changes of 1 % of the tickets, against all records',
    'changes of nothing, against all records',
  ],
  [
    'compression',
    'page of 25 in zstd, against plain',
    'ticket p99 beside pages of 100 in gzip, against plain',
  ],
  [
    'overload',
    'goodput of page of 50 of a new window beyond the peak',
    'p99 of answered requests, 5000 connections',
    'p99 of the admin port in that time',
    'recovery after it',
  ],
  ['threads', 'two threads against one', 'resident memory of each further thread'],
  [
    'build load start',
    'build from changes to every hundredth ticket, against a build of all',
    'load of 2000 tickets, against reading, copying and digesting the file',
    'resident memory against the JSON of the records',
    'start of the demo until its first response',
  ],
  [
    'refresh',
    'request p99 while a snapshot loads and goes live',
    'longest stall of the serving thread in that time',
    'requests not answered with 200 in that time',
    'resident memory after 4 swaps',
  ],
  [
    'scale',
    'tickets, one by id',
    'tickets by ten eventIds, a deep page',
    'orders by eventIds and status',
    'offers by type and resaleEnabled',
    'longest hold of the event loop in that, 2000 tickets',
  ],
];

/** The figures are not checked: they depend on the machine and its load. */
describe('The bench', () => {
  const inFolder = folderForEach();

  /** Runs the bench at the smallest sizes, and checks what all rows have in common. */
  async function figures(args: readonly string[]): Promise<Output> {
    const { code, stdout, stderr } = await run(BENCH, [...args, ...TINY], { TMPDIR: inFolder('.') });
    // The exit status is 0 even if targets are missed, as some must be at such sizes.
    expect(code, stderr).to.equal(0);
    expect(readdirSync(inFolder('.')), 'files left behind').to.deep.equal([]);
    const output = JSON.parse(stdout) as Output;
    expect(output.conditions).to.include({ tickets: 500, largeTickets: 2000, rounds: 1 });
    for (const { name, note, measured, spread, reach, isReached } of output.rows) {
      expect(measured, name).to.be.a('number');
      expect(note, name)
        .to.match(/\w/)
        .and.not.to.match(/NaN|undefined/);
      expect(spread[0] <= measured && measured <= spread[1], name).to.equal(true);
      expect(isReached, name).to.equal(
        'atMost' in reach ? measured <= reach.atMost : measured >= reach.atLeast,
      );
    }
    return output;
  }

  for (const [args, ...expected] of RUNS) {
    (args === 'latency streams' ? it : itDeep)(`measures ${args}`, async () => {
      const { rows } = await figures(args.split(' '));
      expect(rows.map(({ name }) => name)).to.include.members(expected);
    });
  }

  it('exits with 1 on a signal, and leaves no files behind', async () => {
    const bench = new Command(BENCH, ['refresh', ...TINY], { TMPDIR: inFolder('.') });
    const deadline = Date.now() + 30_000;
    const hasReplica = () =>
      readdirSync(inFolder('.'), { recursive: true }).some((path) => String(path).includes('replica-'));
    while (!hasReplica() && Date.now() < deadline) await setTimeout(20);
    bench.kill('SIGINT');
    const { code, stdout, stderr } = await bench.ended;
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'interrupted by SIGINT; not all was measured\n',
    });
    expect(readdirSync(inFolder('.'))).to.deep.equal([]);
  });

  it('reports an invalid option', async () => {
    for (const [args, message] of [
      [['--tickets', '1e3'], "option '--tickets <n>' argument '1e3' is invalid. It must be a whole number"],
      [['--seconds', '0'], "option '--seconds <n>' argument '0' is invalid. It must be a number of seconds"],
      [['speed'], "value 'speed' is invalid for argument 'group'"],
    ] as const) {
      const { code, stderr } = await run(BENCH, args);
      expect(code).to.equal(2);
      expect(stderr).to.include(message);
    }
  });
});
