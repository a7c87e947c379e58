import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { bytesInUse, memoryNeed, storedBytes } from '../../src/snapshot/admission/memory.ts';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { sectionsOf } from '../../src/store/organization-image.ts';
import { alteredCopy, asOrganization } from '../support/altered-snapshot.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { shuffled } from '../support/random.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { inOrganization, minimalTicket, times } from '../support/records.ts';
import { smallImport } from '../support/small-import.ts';
import { SnapshotCommand } from './snapshot-command.ts';

/** Tickets of the files `1`, `2` and so on, each with the organization `org-1`, `org-2` and so on. */
const SIZES = [6000, 4500, 4500, 3000, 3000, 1500, 1500, 1500, 100, 100];
const THREADS = 3;

interface Plan {
  readonly shards: readonly {
    readonly shard: number;
    readonly neededBytes: number;
    readonly leftBytes: number;
    readonly files: readonly { readonly file: string; readonly movedFrom: number | null }[];
  }[];
  readonly missing: readonly string[];
}

describe('npm run snapshot -- plan', () => {
  const snapshot = new SnapshotCommand();
  const { folder } = snapshot;
  const file = (n: number) => folder(`${n}.sqlite`);
  const NAMES = SIZES.map((_, i) => `@${i + 1}.sqlite`);

  async function make(n: number, tickets: number): Promise<void> {
    const built = folder(`built-${tickets}`);
    const records = times(tickets, (i) => inOrganization('north')(minimalTicket(`tkt_${i}`)));
    writeImport(`${built}-import`, { ...smallImport(['north']), tickets: records });
    await build(`${built}-import`, built);
    alteredCopy(built, file(n), asOrganization(`org-${n}`));
  }

  before(async () => {
    for (const [i, tickets] of SIZES.entries()) await make(i + 1, tickets);
  });

  beforeEach(() => {
    rmSync(folder('maps'), { recursive: true, force: true });
    mkdirSync(folder('maps'));
  });

  async function plan(line: string): Promise<Plan> {
    return JSON.parse(await snapshot.outputOf(`plan --json --threads ${THREADS} ${line}`)) as Plan;
  }

  const shardOf = ({ shards }: Plan, n: number) =>
    shards.find(({ files }) => files.some((one) => one.file === file(n)))?.shard;
  /** Memory for the largest file and `more` megabytes. */
  const enoughAnd = (more: number) => `${(memoryOf([1]) / 1e6 + more).toFixed(1)}M`;

  /** Computes the memory in which a process loads any of the files again while all of them are live and retained. */
  function memoryOf(files: readonly number[]): number {
    const images = files.flatMap((n) => readSnapshot(file(n)).organizations.flatMap(sectionsOf));
    const peaks = files.map((n) => memoryNeed(inspectSnapshot(file(n)).organizations).peak);
    return bytesInUse(2 * storedBytes(images, THREADS), THREADS) + Math.max(...peaks);
  }

  it('places each file once, where it fits as the process counts its memory, in any order of the files', async () => {
    const random = new Random(7);
    const shardCounts = new Set<number>();
    for (const more of [4, 6, 8, 11, 15, 40]) {
      const first = await plan(`--memory ${enoughAnd(more)} ${NAMES.join(' ')}`);
      const placed = first.shards.flatMap(({ files }) => files.map((one) => one.file));
      expect(placed.toSorted()).to.deep.equal(SIZES.map((_, i) => file(i + 1)).toSorted());
      for (const { shard, files, neededBytes, leftBytes } of first.shards) {
        const numbers = SIZES.keys()
          .map((i) => i + 1)
          .filter((n) => files.some((one) => one.file === file(n)));
        expect(memoryOf([...numbers]), `shard ${shard}`).to.be.at.most(neededBytes);
        expect(leftBytes).to.be.at.least(0);
      }
      expect(await plan(`--memory ${enoughAnd(more)} ${shuffled(random, NAMES).join(' ')}`)).to.deep.equal(
        first,
      );
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
    for (const n of SIZES.keys()) expect(map).to.include(`o:org-${n + 1} shard-${shardOf(first, n + 1)}\n`);
    expect(readFileSync(folder('maps/nginx.map'), 'utf8')).to.include(
      `"o:org-2" shard-${shardOf(first, 2)};\n`,
    );
    // The smallest file becomes larger than four others, which alone would change the order of the plan.
    await make(10, 1600);
    const grown = await plan(line(NAMES.slice(1)));
    for (const n of SIZES.keys().drop(1))
      expect(shardOf(grown, n + 1), `file ${n + 1}`).to.equal(shardOf(first, n + 1));
    expect(grown.missing).to.deep.equal(['org-1']);
    await make(10, 100);
  });

  it('moves the smallest files of a shard that has become too small, and names them', async () => {
    const all = times(SIZES.length, (i) => `# ${i + 1}.sqlite: shard-2\no:org-${i + 1} shard-2\n`).join('');
    writeFileSync(folder('maps/haproxy.map'), all);
    const { code, stdout, stderr } = await snapshot.run(
      `plan --threads ${THREADS} --memory ${enoughAnd(10)} --output @maps ${NAMES.join(' ')}`,
    );
    expect(code).to.equal(0);
    expect(stdout).to.match(/^SHARD +NEEDED +LEFT +DATA +ORGANIZATIONS +FILE\n/);
    const moved = Array.from(
      stderr.matchAll(/^warning: .*?(\d+)\.sqlite moves from shard 2 to \d+$/gm),
      ([, n]) => Number(n),
    );
    expect(moved).to.include(8).and.not.include.members([1]);
    expect(stderr.trimEnd().split('\n')).to.have.length(moved.length);
  });

  it('refuses what has no plan, and writes no map', async () => {
    for (const [line, message] of [
      [
        '--memory 200M @8.sqlite @1.sqlite',
        /^\S*\/8\.sqlite: needs 2\d\d\.\d MB of memory, more than the 200\.0 MB of a machine; divide/,
      ],
      [
        '--memory 1G @1.sqlite @2.sqlite @1.sqlite',
        /^\S*\/1\.sqlite: organization org-1 is also in \S*\/1\.sqlite$/m,
      ],
      ['--memory 1G @absent.sqlite', /^\S*absent\.sqlite: no such file$/m],
      ['--memory 1G @import/events.ndjson', /events\.ndjson: it is not an SQLite database$/m],
    ] as const) {
      expect(await snapshot.refusalOf(`plan --output @maps ${line}`), line).to.match(message);
      expect(() => readFileSync(folder('maps/haproxy.map'))).to.throw();
    }
    expect(await snapshot.refusalOf('plan --memory 1G --output @absent @1.sqlite')).to.match(
      /absent: no such folder/,
    );
    for (const memory of ['16', '16g', '0G', '1e3M', '-1G'])
      expect(await snapshot.refusalOf(`plan --memory ${memory} @1.sqlite`, {}, 2)).to.include(
        'must be a number with M, G or T',
      );
    expect(await snapshot.refusalOf('plan @1.sqlite', {}, 2)).to.include("required option '--memory <size>'");
  });
});
