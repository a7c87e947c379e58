import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { folderForEach } from '../temporary-folder.ts';
import { Command, run } from './command.ts';

/** Nothing is said here of the figures: they are a matter of the machine and of what else runs on it. */
describe('the bench', function () {
  this.timeout(90_000);
  const inFolder = folderForEach();

  it('measures refreshes and leaves nothing behind', async () => {
    const options = ['--tickets', '300', '--swaps', '4', '--rounds', '1', '--json'];
    const { code, stdout, stderr } = await run('scripts/bench/bench.ts', ['refresh', ...options], {
      TMPDIR: inFolder('.'),
    });
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const { bench, conditions, rows } = JSON.parse(stdout) as {
      bench: string;
      conditions: object;
      rows: { name: string; reach: { atMost: number }; measured: number; isReached: boolean }[];
    };
    expect(bench).to.equal('refresh');
    expect(conditions).to.include({ tickets: 300, swaps: 4, rounds: 1 });
    expect(rows.map(({ name, reach }) => [name, reach])).to.deep.equal([
      ['request p99 while a snapshot loads and goes live', { atMost: 2 }],
      ['longest stall of the serving thread in that time', { atMost: 20 }],
      ['most processor time of that thread between two turns', { atMost: 20 }],
      ['requests not answered with 200 in that time', { atMost: 0 }],
      ['resident memory after 4 swaps', { atMost: 1.1 }],
    ]);
    for (const { name, measured, reach, isReached } of rows) {
      expect(measured, name).to.be.at.least(0);
      expect(isReached, name).to.equal(measured <= reach.atMost);
    }
    expect(rows[3].measured, 'requests that failed').to.equal(0);
    expect(readdirSync(inFolder('.'))).to.deep.equal([]);
  });

  it('ends with 1 on a signal, and leaves nothing behind', async () => {
    const bench = new Command('scripts/bench/bench.ts', ['refresh', '--tickets', '300'], {
      TMPDIR: inFolder('.'),
    });
    const deadline = Date.now() + 30_000;
    const hasReplica = () =>
      readdirSync(inFolder('.'), { recursive: true }).some((path) => String(path).includes('replica-'));
    while (!hasReplica() && Date.now() < deadline) await setTimeout(20);
    bench.kill('SIGINT');
    const { code, stderr } = await bench.ended;
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: 'interrupted by SIGINT; nothing was measured\n',
    });
    expect(readdirSync(inFolder('.'))).to.deep.equal([]);
  });

  it('says what is wrong with an option', async () => {
    const { code, stderr } = await run('scripts/bench/bench.ts', ['refresh', '--tickets', '1e3']);
    expect(code).to.equal(2);
    expect(stderr).to.include("option '--tickets <n>' argument '1e3' is invalid. It must be a whole number");
  });
});
