import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { bytesInUse, memoryNeed } from '../../src/snapshot/admission/memory.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { memoryOf, sectionsOf } from '../../src/store/organization-image.ts';
import { alteredCopy, asOrganization } from '../support/altered-snapshot.ts';
import { buildFile } from '../support/import-folder.ts';
import { shuffled } from '../support/random.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { inOrganization, minimalTicket, times } from '../support/records.ts';
import { smallImport } from '../support/small-import.ts';
import { SnapshotCommand } from './snapshot-command.ts';

/** Tickets of the files `1`, `2` and so on, each with the organization `org-1`, `org-2` and so on. */
const SIZES = [6000, 4500, 4500, 3000, 3000, 1500, 1500, 1500, 100, 100];
const NUMBERS = times(SIZES.length, (i) => i + 1);
const THREADS = 3;

interface Shard {
  readonly shard: number;
  readonly neededBytes: number;
  readonly leftBytes: number;
  readonly files: readonly { readonly file: string; readonly moved: unknown }[];
}

interface Plan {
  readonly shards: readonly Shard[];
  readonly missing: readonly string[];
}

describe('npm run snapshot -- plan', () => {
  const snapshot = new SnapshotCommand();
  const { folder } = snapshot;
  const file = (n: number) => folder(`${n}.sqlite`);
  const NAMES = NUMBERS.map((n) => `@${n}.sqlite`);

  async function make(n: number, tickets: number): Promise<void> {
    const built = folder(`built-${tickets}`);
    const records = times(tickets, (i) => inOrganization('north')(minimalTicket(`tkt_${i}`)));
    await buildFile({ ...smallImport(['north']), tickets: records }, built);
    alteredCopy(built, file(n), asOrganization(`org-${n}`));
  }

  before(async () => {
    for (const n of NUMBERS) await make(n, SIZES[n - 1]);
  });

  beforeEach(() => {
    rmSync(folder('maps'), { recursive: true, force: true });
    mkdirSync(folder('maps'));
  });

  async function plan(line: string): Promise<Plan> {
    return JSON.parse(await snapshot.outputOf(`plan --json --threads ${THREADS} ${line}`)) as Plan;
  }

  const numbersIn = ({ files }: Shard) => NUMBERS.filter((n) => files.some((one) => one.file === file(n)));
  const shardOf = ({ shards }: Plan, n: number) => shards.find((one) => numbersIn(one).includes(n))?.shard;
  /** Memory for the largest file and `more` megabytes. */
  const enoughAnd = (more: number) => `${(memoryFor([1]) / 1e6 + more).toFixed(1)}M`;

  /** Computes the memory in which a process loads any of the files again while all of them are live and retained. */
  function memoryFor(files: readonly number[]): number {
    const images = files.flatMap((n) => readSnapshot(file(n)).organizations);
    const peaks = files.map((n) => memoryNeed(inspectSnapshot(file(n)).organizations).peak);
    const held = 2 * memoryOf(images.flatMap(sectionsOf)).bytes;
    return bytesInUse(held, 2 * images.length, THREADS) + Math.max(...peaks);
  }

  it('places each file once, where it fits as the process counts its memory, in any order of the files', async () => {
    const random = new Random(7);
    const shardCounts = new Set<number>();
    for (const more of [4, 6, 8, 11, 15, 40]) {
      const first = await plan(`--memory ${enoughAnd(more)} ${NAMES.join(' ')}`);
      const placed = first.shards.flatMap(({ files }) => files.map((one) => one.file));
      expect(placed).to.have.members(NUMBERS.map(file));
      for (const one of first.shards) {
        expect(memoryFor(numbersIn(one)), `shard ${one.shard}`).to.be.at.most(one.neededBytes);
        expect(one.leftBytes).to.be.at.least(0);
      }
      const again = await plan(`--memory ${enoughAnd(more)} ${shuffled(random, NAMES).join(' ')}`);
      expect(again).to.deep.equal(first);
      shardCounts.add(first.shards.length);
    }
    expect([...shardCounts])
      .to.include(1)
      .and.have.length.above(2);
  });

  it('writes the maps of both proxies, and keeps to them when files grow, come and go', async () => {
    const line = (names: readonly string[]) => `--memory ${enoughAnd(10)} --output @maps ${names.join(' ')}`;
    const first = await plan(line(NAMES));
    const map = readFileSync(folder('maps/haproxy.map'), 'utf8');
    for (const n of NUMBERS) expect(map).to.include(`o:org-${n} shard-${shardOf(first, n)}\n`);
    const other = readFileSync(folder('maps/nginx.map'), 'utf8');
    expect(other).to.include(`"o:org-2" shard-${shardOf(first, 2)};\n`);
    // The smallest file becomes larger than four others, which alone would change the order of the plan.
    await make(10, 1600);
    const grown = await plan(line(NAMES.slice(1)));
    for (const n of NUMBERS.slice(1)) expect(shardOf(grown, n), `file ${n}`).to.equal(shardOf(first, n));
    expect(grown.missing).to.deep.equal(['org-1']);
    await make(10, 100);
  });

  it('moves the smallest files of a shard that has become too small, and names them', async () => {
    const all = NUMBERS.map((n) => `# ${n}.sqlite: shard-2\no:org-${n} shard-2\n`).join('');
    writeFileSync(folder('maps/haproxy.map'), all);
    const { code, stdout, stderr } = await snapshot.run(
      `plan --threads ${THREADS} --memory ${enoughAnd(10)} --output @maps ${NAMES.join(' ')}`,
    );
    expect(code).to.equal(0);
    expect(stdout).to.match(/^SHARD +NEEDED +LEFT +DATA +ORGANIZATIONS +FILE\n/);
    const moved = Array.from(
      stderr.matchAll(
        /^warning: .*\.sqlite: organizations that move from shard 2 to \d+: 1, such as org-(\d+)$/gm,
      ),
      ([, n]) => Number(n),
    );
    expect(moved).to.include(8).and.not.include.members([1]);
    expect(stderr.trimEnd().split('\n')).to.have.length(moved.length);
  });

  it('names the organizations that move, also when files are renamed or divided', async () => {
    const map = '# all.sqlite: shard-2\r\no:org-1 shard-2\r\n\no:org-2 shard-2\no:org-10 shard-1\n';
    writeFileSync(folder('maps/haproxy.map'), map);
    const line = `--memory ${enoughAnd(4)} --output @maps @1.sqlite @2.sqlite @10.sqlite`;
    const { shards, missing } = await plan(line);
    expect(missing).to.deep.equal([]);
    const moves = shards.flatMap(({ files }) => files.map(({ file, moved }) => [basename(file), moved]));
    expect(Object.fromEntries(moves)).to.deep.equal({
      '1.sqlite': [],
      '2.sqlite': [{ fromShard: 2, organizations: ['org-2'] }],
      '10.sqlite': [],
    });
  });

  it('refuses what has no plan, and writes no map', async () => {
    mkdirSync(folder('same'));
    for (const n of [1, 2]) copyFileSync(file(1), folder(`same/${n}.sqlite`));
    mkdirSync(folder('bad'));
    writeFileSync(folder('bad/haproxy.map'), 'o:org-1 shard-1\n"o:org-2" shard-1;\n');
    for (const [line, message, code = 1] of [
      [
        '--memory 200M @8.sqlite @1.sqlite',
        /^\S*\/8\.sqlite: needs 2\d\d\.\d MB of memory, more than the 200\.0 MB of a machine; divide/,
      ],
      [
        '--memory 1G @1.sqlite @2.sqlite @same/1.sqlite',
        /^\S*\/same\/1\.sqlite: its name is also that of \S*\/1\.sqlite$/m,
      ],
      [
        '--memory 1G @1.sqlite @same/2.sqlite',
        /^\S*\/2\.sqlite: organization org-1 is also that of \S*\/1\.sqlite$/m,
      ],
      ['--memory 1G --output @bad @1.sqlite', /\/bad\/haproxy\.map: line 2 must be o:ORGANIZATION shard-/],
      ['--memory 1G @absent.sqlite', /^\S*absent\.sqlite: no such file$/m],
      ['--memory 1G @import/events.ndjson', /events\.ndjson: it is not an SQLite database$/m],
      ['--memory 1G --output @absent @1.sqlite', /absent: no such folder/],
      ...['16', '16g', '0G', '1e3M', '-1G'].map(
        (memory) => [`--memory ${memory} @1.sqlite`, /must be a number with M, G or T/, 2] as const,
      ),
      ['@1.sqlite', /required option '--memory <size>'/, 2],
    ] satisfies (readonly [string, RegExp, number?])[]) {
      expect(await snapshot.refusalOf(`plan --output @maps ${line}`, {}, code), line).to.match(message);
      expect(() => readFileSync(folder('maps/haproxy.map'))).to.throw();
    }
  });
});
