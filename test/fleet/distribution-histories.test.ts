import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { needs } from '../support/components.ts';
import { byDepth } from '../support/depth.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { type Built, buildSuccession, Machine } from './machine.ts';

const STEPS = byDepth({ short: 30, deep: 150 });
const FREQUENT = ['push', 'pull', 'damage'] as const;
/** Longer than a push or a pull of a small file. */
const MAX_LIFE_MS = 2500;

describe(`In random histories of ${STEPS} steps with damage and kills`, () => {
  needs('rclone', 'zstd');
  const inFolder = folderForAll();
  const folder = () => inFolder('store/main/');
  let built: Built[];

  before(async () => {
    mkdirSync(folder(), { recursive: true });
    built = await buildSuccession(inFolder, [60, 59, 20, 60, 60]);
  });

  /** Returns the id in the pin, else in the pointer. */
  function wanted(): string | undefined {
    const files = readdirSync(folder());
    if (files.includes('pin')) return readFileSync(`${folder()}pin`, 'utf8').trim();
    return /^id (.*)$/m.exec(readFileSync(`${folder()}pointer`, 'utf8'))?.[1];
  }

  /** Returns the ids of the snapshots to return to. */
  const kept = () =>
    /(?<=^keeps ).*$/m.exec(readFileSync(`${folder()}pointer`, 'utf8'))?.[0].split(' ') ?? [];

  /** Ends a run at a random time, or not. Expects a failure to be one line. */
  async function finish(run: ReturnType<Machine['start']>, lifeMs?: number): Promise<number | null> {
    const timer = lifeMs === undefined ? undefined : setTimeout(run.kill, lifeMs);
    const { code, stderr } = await run.ended;
    clearTimeout(timer);
    if (code === 1) expect(stderr).to.match(/^[^\n]+\n$/);
    return code;
  }

  for (const seed of [1, 2]) {
    it(`a machine has what was pushed, and after a pull what the store names: seed ${seed}`, async () => {
      const random = new Random(seed);
      rmSync(folder(), { recursive: true });
      const at = (name: string) => new Machine(inFolder(`${name}-${seed}`), inFolder('store'), { KEEP: '3' });
      const builders = ['day', 'night'].map(at);
      const machines = ['one', 'two'].map(at);
      const push = (n: number) =>
        random.pick(builders).start(`push ${built[n].file} --as main --rollback --allow-shrink`);
      expect(await finish(push(0))).to.equal(0);

      const pullsSoundly = async (machine: Machine) => {
        expect(await finish(machine.start('pull'))).to.equal(0);
        expect(machine.publishedOf(built)?.id).to.equal(wanted());
      };
      const damageAndPull = async (machine: Machine) => {
        const before = machine.publishedOf(built)?.id;
        const file = folder() + random.pick(readdirSync(folder()));
        const bytes = readFileSync(file);
        const altered = Buffer.from(bytes);
        altered[random.below(bytes.length)] ^= 1 << random.below(8);
        const damaged = random.pick([altered, bytes.subarray(0, random.below(bytes.length)), undefined]);
        if (damaged === undefined) rmSync(file);
        else writeFileSync(file, damaged);
        const code = await finish(machine.start('pull'));
        expect(machine.publishedOf(built)?.id).to.equal(code === 0 ? wanted() : before);
        writeFileSync(file, bytes);
      };
      for (let step = 0; step < STEPS; step++) {
        const machine = random.pick(machines);
        const lifeMs = random.chance(0.5) ? random.below(MAX_LIFE_MS) : undefined;
        const action = random.pick([...FREQUENT, ...FREQUENT, 'pin', 'unpin', 'lose the pointer'] as const);
        if (action === 'push') {
          const code = await finish(push(random.below(built.length)), lifeMs);
          if (lifeMs === undefined) expect(code).to.equal(0);
        } else if (action === 'pull' && lifeMs !== undefined) await finish(machine.start('pull'), lifeMs);
        else if (action === 'pull') await pullsSoundly(machine);
        else if (action === 'damage') await damageAndPull(machine);
        else if (action === 'unpin') rmSync(`${folder()}pin`, { force: true });
        else if (action === 'pin') writeFileSync(`${folder()}pin`, random.pick(kept()));
        else {
          rmSync(`${folder()}pointer`);
          expect(await finish(push(random.below(built.length)))).to.equal(0);
        }
        for (const id of kept()) expect(readdirSync(folder())).to.include(`${id}.sqlite.zst`);
        for (const one of machines) one.publishedOf(built);
        for (const one of [...builders, ...machines]) {
          const files = readdirSync(one.inFolder('state'), { recursive: true, encoding: 'utf8' });
          expect(files.filter((name) => name.endsWith('.sqlite')).length).to.be.at.most(2);
        }
      }
      for (const machine of machines) await pullsSoundly(machine);
    });
  }
});
