import assert, { AssertionError } from 'node:assert';
import { expect } from 'chai';
import fc from 'fast-check';
import { byDepth } from '../../support/depth.ts';
import * as pairs from '../../support/pair.ts';
import { type Command, contentOf, feed, publish, pull, refresh, RULES, tidy } from '../../support/pair.ts';

/** Gives its commands one after the other; after a kill, the next. */
interface Actor {
  readonly commands: readonly Command[];
  /** What the steps of the first command have returned. */
  readonly results: readonly (pairs.StoredFile | undefined)[];
  readonly next?: pairs.Step | undefined;
  /** The position in the log at the first step. */
  readonly since?: number | undefined;
  /** What a replica serves. */
  readonly live: pairs.Snapshot | undefined;
}

/** What is published under a name on one machine, and who is at work. */
interface Machine {
  readonly pair: pairs.Pair;
  /** The published contents in their order. A pull may leave some out. */
  readonly log: readonly pairs.Snapshot[];
  /** The position of the present content in the log. It does not decrease. */
  readonly at: number;
  /** The actors that hold locks, by what is locked. */
  readonly locks: ReadonlyMap<string | undefined, number>;
  readonly actors: readonly Actor[];
  readonly rules: pairs.Rules;
}

type Folder = Pick<Machine, 'pair' | 'log' | 'at'>;

const textOf = ({ records, deletions }: pairs.Snapshot) =>
  JSON.stringify([records, deletions].map((versions) => Object.entries(versions).sort()));

/** Returns the first position of a content in a log, from one on. It must be there. */
function find(log: Machine['log'], from: number, content?: pairs.Snapshot): number {
  assert(content, 'nothing is found');
  const at = log.findIndex(({ id }, index) => index >= from && id === content.id);
  assert(at >= 0, `${content.id} is not what is published`);
  assert(textOf(content) === textOf(log[at]), 'there is a mixture');
  return at;
}

/** Changes the pair. A start now gets what this publishes, or else what was published before. */
function change(machine: Machine, { kind, file, publishes }: pairs.Change): Machine {
  const isNext = !publishes || kind === 'whole' || pairs.hasInHistory(publishes, machine.log[machine.at]);
  assert(isNext, 'a feed loses another');
  const pair = { ...machine.pair, [kind]: file };
  const log = publishes ? [...machine.log, publishes] : machine.log;
  const at = find(log, publishes ? log.length - 1 : machine.at, contentOf(pair, RULES));
  return { ...machine, pair, log, at };
}

/** Runs an actor up to its next step. What its command reports at the end must be true. */
function resume(machine: Machine, actor: Actor, index: number): Machine {
  const { commands, results, since = machine.at, live } = actor;
  if (commands.length === 0) return { ...machine, actors: machine.actors.with(index, actor) };
  const steps = commands[0](machine.rules, live);
  let result = steps.next();
  for (const file of results) result = steps.next(file);
  if (!result.done)
    return { ...machine, actors: machine.actors.with(index, { ...actor, next: result.value }) };
  const { acknowledges, isRefused, ...served } = result.value;
  assert(!isRefused || machine.at > since, 'a feed is refused although its base is published');
  assert(acknowledges === undefined || acknowledges === machine.log[machine.at].id, 'a report is wrong');
  if ('serves' in served) find(machine.log.slice(0, machine.at + 1), since, served.serves);
  return end(machine, { ...actor, live: served.serves ?? live }, index);
}

/** Ends the first command of an actor, as a kill does. */
function end(machine: Machine, { commands, live }: Actor, index: number): Machine {
  const locks = new Map([...machine.locks].filter(([, holder]) => holder !== index));
  return resume({ ...machine, locks }, { commands: commands.slice(1), results: [], live }, index);
}

const lockOf = ({ pair, rules }: Machine) => (rules.locksName ? 'name' : pair.whole?.inode);

function perform(machine: Machine, actor: Actor, index: number, step: pairs.Step): Machine {
  const { results, since = machine.at } = actor;
  const goOn = (changed: Machine, file?: pairs.StoredFile) =>
    resume(changed, { ...actor, results: [...results, file], since, next: undefined }, index);
  if (step.does === 'open') return goOn(machine, machine.pair[step.kind]);
  if (step.does !== 'lock') return goOn(change(machine, step));
  return goOn({ ...machine, locks: new Map(machine.locks).set(lockOf(machine), index) });
}

/** A step of an actor, or a kill. */
type Move = Readonly<{ index: number; step?: pairs.Step; make: () => Machine }>;

function movesOf(machine: Machine): Move[] {
  return machine.actors.flatMap((actor, index): Move[] => {
    const { commands, results, next } = actor;
    const isWaiting = next?.does === 'lock' && machine.locks.has(lockOf(machine));
    const step = next &&
      !isWaiting && { index, step: next, make: () => perform(machine, actor, index, next) };
    const isKilled = commands[0] !== refresh && results.length > 0;
    const kill = isKilled && { index, make: () => end(machine, actor, index) };
    return [step, kill].filter((move) => move !== undefined && move !== false);
  });
}

type Scenario = readonly [folder: Folder, programs: readonly (readonly Command[])[]];

function begin([{ pair, log, at }, programs]: Scenario, rules: pairs.Rules, live?: pairs.Snapshot): Machine {
  const actors = programs.map((commands): Actor => ({ commands, results: [], live }));
  return actors.reduce(resume, { pair, log, at, rules, locks: new Map(), actors });
}

/** Makes moves until all actors have ended. Returns the states. */
function play(machine: Machine, choose = (moves: Move[]) => moves.find(({ step }) => step)): Machine[] {
  const states = [machine];
  for (let move; (move = choose(movesOf(machine))); states.push(machine)) machine = move.make();
  return states;
}

/** Lets a start, and a refresh of each replica, get what is published at the end. */
function settle(machine: Machine): void {
  for (const { live } of [...machine.actors, { live: undefined }])
    play(begin([machine, [[refresh]]], machine.rules, live));
}

function keyOf({ pair, log, at, locks, actors }: Machine): string {
  const ofActors = actors.map(({ commands, results, since, live }) =>
    [commands.length, since, live?.id, ...results.map((file) => file?.inode)].join(';'),
  );
  const ids = log.map(({ id }) => id);
  return [pair.whole?.inode, pair.changes?.inode, at, ...locks, ...ids, ...ofActors].join('|');
}

/** Returns the first violation among all interleavings with all kills, and the moves that lead to it. */
function firstViolation(scenarios: readonly Scenario[], rules: pairs.Rules): string | undefined {
  const made: Move[] = [];
  const visit = (machine: Machine, seen: Set<string>) => {
    const { size } = seen;
    if (seen.add(keyOf(machine)).size === size) return;
    const moves = movesOf(machine);
    if (moves.length === 0) settle(machine);
    for (const move of moves) {
      made.push(move);
      visit(move.make(), seen);
      made.pop();
    }
  };
  try {
    for (const scenario of scenarios) visit(begin(scenario, rules), new Set());
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error;
    const titleOf = (step?: pairs.Step) =>
      [step?.does ?? 'killed', step && 'kind' in step ? step.kind : ''].join(' ');
    return `${error.message}: ${made.map(({ index, step }) => `${index} ${titleOf(step)}`).join(', ')}`;
  }
  return undefined;
}

/** Returns the states of a folder: at first, and after each change by commands that nobody interrupts. */
function foldersOf(folder: Folder, ...commands: Command[]): Folder[] {
  const states = play(begin([folder, [commands]], RULES));
  return states.filter(({ pair }, index) => index === 0 || pair !== states[index - 1].pair);
}

/** Returns the pull of a folder. A push leaves out changes that add nothing to the whole file. */
function pullOf({ pair: { whole, changes } }: Folder): Command {
  assert(whole);
  return pull(contentOf({ whole, changes }, RULES)?.id === whole.id ? { whole } : { whole, changes });
}

const s0 = pairs.firstSnapshot('s0', 1);
const start: Folder = { pair: { whole: pairs.wholeFile(s0, 'e', 'W') }, log: [s0], at: 0 };
const [, s1, s2, tidied] = foldersOf(start, feed('s1'), feed('s2'), tidy('T'));
/** A full build, of data as old as those of the first feed. */
const full = (name: string) => publish(pairs.firstSnapshot(name, 2), name);
const rollback = (name: string) => publish(s1.log[1], name);
const [, stale] = foldersOf(s2, full('f'));
const writers = [feed, tidy, full, rollback];
const replica = [refresh, refresh];

/** Two writers and a replica, where a folder has: a whole file, changes, changes that are whole, too, stale changes. */
const publications = [start, s1, tidied, stale].flatMap((folder): Scenario[] =>
  writers.flatMap((one, i) => {
    const others = writers.slice(i).map((other) => [other('y')]);
    if (folder === s1) others.push([feed('y1'), tidy('y2'), feed('y3')]);
    return others.map((other): Scenario => [folder, [replica, [one('x')], other]]);
  }),
);

/** Another machine, which pushes after each change. */
const pushes = foldersOf(start, feed('s1'), feed('s2'), tidy('T'), feed('s3'), full('f'), feed('s4'));

/** Pulls and a replica, where a folder has one of the pushes, and has gone on by itself. A pull may miss pushes. */
function pullsAfter(got: Folder, own: Command[], count: number, ...others: Command[][]): Scenario[] {
  const { log } = pushes[pushes.length - 1];
  const later = pushes.filter(({ at }) => at >= got.at).map(pullOf);
  return foldersOf(got, ...own).flatMap((folder) => {
    const known = log.findIndex(({ id }) => id === folder.log[folder.at].id);
    const ahead = log.slice(known < 0 ? got.at : Math.min(got.at, known));
    const local = { ...folder, log: [...folder.log.slice(0, folder.at + 1), ...ahead] };
    return later.map((_, i): Scenario => [local, [replica, later.slice(i, i + count), ...others]]);
  });
}

const pulls = [
  ...pullsAfter(s1, [feed('x')], 1, [tidy('X')]),
  ...pushes.flatMap((got) => pullsAfter(got, [feed('x'), tidy('X')], 2)),
  ...[s1, s2, tidied].flatMap((got) => pullsAfter(got, [rollback('x')], 2)),
];
/** The rules that pulls need. Publications need the others. */
const OF_PULLS = ['appliesInHistory', 'appliesSince', 'tidiesHistory', 'pullsWholeFirst', 'pullMakesWhole'];

describe('A published pair of files, in a model with all interleavings and kills', () => {
  it('serves what is published, in order, and loses no feed, while others publish and tidy', () => {
    expect(firstViolation(publications, RULES)).to.equal(undefined);
  });

  it('serves what was pushed, in order, while a machine pulls', () => {
    expect(firstViolation(pulls, RULES)).to.equal(undefined);
  });

  for (const rule of Object.keys(RULES))
    it(`needs the rule ${rule}`, () => {
      const scenarios = OF_PULLS.includes(rule) ? pulls : publications;
      expect(firstViolation(scenarios, { ...RULES, [rule]: false })).to.be.a('string');
    });

  it('keeps its promises over random histories, and where a machine pulls some of the states', () => {
    const playRandomly = (folder: Folder, programs: Command[][], numbers: readonly number[]) => {
      const next = numbers.values();
      const readings = Array.from({ length: 20 }, () => refresh);
      const states = play(begin([folder, [readings, ...programs]], RULES), (moves) => {
        const number = next.next().value ?? 1;
        const likely = moves.filter(({ step }) => step ?? number % 8 === 0);
        return likely.at((number >>> 3) % likely.length);
      });
      settle(states[states.length - 1]);
      return states;
    };
    const programs = fc.array(fc.array(fc.constantFrom(...writers), { maxLength: 8 }), { maxLength: 3 });
    const numbers = fc.array(fc.nat(), { minLength: 100, maxLength: 300 });
    const property = fc.property(programs, numbers, numbers, (written, some, others) => {
      const commands = written.map((one, i) => one.map((writer, j) => writer(`${i}-${j}`)));
      const states = playRandomly(start, commands, some);
      const pushed = states.filter((_, i) => others[i % others.length] % 4 === 0);
      playRandomly({ ...start, log: states[states.length - 1].log }, [pushed.map(pullOf)], others);
    });
    fc.assert(property, { numRuns: byDepth({ short: 20, deep: 5000 }) });
  });
});
