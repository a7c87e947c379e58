import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { run } from '../support/command.ts';
import { itDeep } from '../support/depth.ts';
import { folderForEach } from '../support/temporary-folder.ts';

const BENCH = 'scripts/bench/bench.ts';
/** The smallest sizes that every group can measure. */
const TINY = [
  ...['--tickets', '500', '--large-tickets', '2000', '--events', '20'],
  ...['--rounds', '1', '--seconds', '0.1', '--swaps', '4', '--feeds', '3', '--json'],
];
const OTHERS = [
  'requests',
  'requests --against . --only one',
  'changes',
  'overload',
  'build load',
  'refresh',
  'feeds',
  'scale',
];

interface Output {
  readonly conditions: Readonly<Record<string, number | string>>;
  readonly rows: readonly {
    readonly name: string;
    readonly note: string;
    readonly reach: { readonly atMost: number } | { readonly atLeast: number };
    readonly measured: number;
    readonly spread: readonly [number, number];
    readonly isReached: boolean;
  }[];
}

/** The figures are not checked: they depend on the machine and its load. */
describe('The bench', () => {
  const inFolder = folderForEach();
  const filesLeft = () => readdirSync(inFolder('.'), { recursive: true }).map(String);

  for (const groups of ['streams', ...OTHERS]) {
    (groups === 'streams' ? it : itDeep)(`measures ${groups}`, async () => {
      const { code, stdout, stderr } = await run(BENCH, [...groups.split(' '), ...TINY], {
        TMPDIR: inFolder('.'),
      });
      // Targets are missed at such sizes, which does not change the exit status.
      expect(code, stderr).to.equal(0);
      expect(filesLeft()).to.deep.equal([]);
      const { conditions, rows } = JSON.parse(stdout) as Output;
      expect(conditions).to.include({ tickets: 500, largeTickets: 2000, rounds: 1 });
      expect(rows).not.to.be.empty;
      for (const { name, note, measured, spread, reach, isReached } of rows) {
        expect(note, name)
          .to.match(/\w/)
          .and.not.to.match(/NaN|undefined/);
        expect(measured, name).to.be.within(...spread);
        const isWithin = 'atMost' in reach ? measured <= reach.atMost : measured >= reach.atLeast;
        expect(isReached, name).to.equal(isWithin);
      }
    });
  }
});
