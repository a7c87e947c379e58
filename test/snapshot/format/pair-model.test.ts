import { isDeepStrictEqual } from 'node:util';
import { assert, AssertionError, expect } from 'chai';
import fc from 'fast-check';
import { itDeep } from '../../support/depth.ts';
import * as pairs from '../../support/pair.ts';
import { type Command, contentOf, feed, publish, pull, refresh, RULES, tidy } from '../../support/pair.ts';

/** Gives its commands one after the other; after a kill, the next. */
interface Actor {
  readonly commands: readonly Command[];
  /** What the steps of the first command have returned. */
  readonly results: readonly (pairs.StoredFile | undefined)[];
  readonly next?: pairs.Step;
  /** The position in the log at the first step. */
  readonly since?: number;
  /** What a replica serves. */
  readonly live?: pairs.Snapshot | undefined;
}

/** What is published under a name on one machine. */
interface Folder {
  readonly pair: pairs.Pair;
  /** The published contents in their order. A pull may leave some out. */
  readonly log: readonly pairs.Snapshot[];
  /** The position of the present content in the log. It does not decrease. */
  readonly at: number;
}

interface Machine extends Folder {
  readonly rules: pairs.Rules;
  /** The actors that hold locks, by what is locked. */
  readonly locks: ReadonlyMap<string | undefined, number>;
  readonly actors: readonly Actor[];
}

/** Returns the first position of a content in a part of the log. It must be there. */
function find(
  who: string,
  content: pairs.Snapshot | undefined,
  { log }: Folder,
  from: number,
  to: number,
): number {
  assert(content, `${who} finds nothing`);
  const at = log.findIndex(({ id }, index) => index >= from && index <= to && id === content.id);
  assert(at >= 0, `${who} goes back`);
  for (const part of ['records', 'deletions'] as const)
    assert(isDeepStrictEqual(content[part], log[at][part]), `${who} has a mixture`);
  return at;
}

/** Changes the pair. A start gets what this publishes, or else what was published before. */
function change(
  machine: Machine,
  kind: pairs.FileKind,
  file?: pairs.StoredFile,
  published?: pairs.Snapshot,
): Machine {
  const isNext = !published || kind === 'whole' || pairs.hasInHistory(published, machine.log[machine.at]);
  assert(isNext, 'a feed loses another');
  const log = published ? [...machine.log, published] : machine.log;
  const changed = { ...machine, pair: { ...machine.pair, [kind]: file }, log };
  const last = log.length - 1;
  return {
    ...changed,
    at: find('a start', contentOf(changed.pair, RULES), changed, published ? last : machine.at, last),
  };
}

type Idle = Omit<Actor, 'next'>;

/** Runs an actor up to its next step. What its command reports at the end must be true. */
function resume(machine: Machine, actor: Idle, index: number): Machine {
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
  if ('serves' in served) find('a replica', served.serves, machine, since, machine.at);
  return end(machine, { ...actor, live: served.serves ?? live }, index);
}

/** Ends the first command of an actor, as a kill does. */
function end(machine: Machine, { commands, live }: Idle, index: number): Machine {
  const locks = new Map([...machine.locks].filter(([, holder]) => holder !== index));
  return resume({ ...machine, locks }, { commands: commands.slice(1), results: [], live }, index);
}

const lockOf = ({ pair, rules }: Machine) => (rules.locksName ? 'name' : pair.whole?.inode);

function perform(machine: Machine, { next: step, ...actor }: Actor, index: number): Machine {
  const { since = machine.at, results } = actor;
  const goOn = (changed: Machine, file?: pairs.StoredFile) =>
    resume(changed, { ...actor, since, results: [...results, file] }, index);
  switch (step?.does) {
    case 'open':
      return goOn(machine, machine.pair[step.kind]);
    case 'lock':
      return goOn({ ...machine, locks: new Map(machine.locks).set(lockOf(machine), index) });
    case 'rename':
      return goOn(change(machine, step.kind, step.file, step.publishes));
    case 'remove':
      return goOn(change(machine, step.kind));
    case undefined:
      return machine;
  }
}

type Move = readonly [title: string, make: () => Machine];

function stepsOf(machine: Machine): Move[] {
  const isWaiting = machine.locks.has(lockOf(machine));
  return machine.actors.flatMap((actor, index): Move[] => {
    const { next } = actor;
    if (!next || (next.does === 'lock' && isWaiting)) return [];
    return [[`${index} ${Object.values(next).slice(0, 2).join(' ')}`, () => perform(machine, actor, index)]];
  });
}

function killsOf(machine: Machine): Move[] {
  return machine.actors.flatMap((actor, index): Move[] => {
    if (actor.commands[0] === refresh || actor.results.length === 0) return [];
    return [[`${index} killed`, () => end(machine, actor, index)]];
  });
}

type Scenario = readonly [folder: Folder, programs: readonly (readonly Command[])[]];

function begin([{ pair, log, at }, programs]: Scenario, rules: pairs.Rules, live?: pairs.Snapshot): Machine {
  const actors = programs.map((commands): Actor => ({ commands, results: [], live }));
  return actors.reduce(resume, { pair, log, at, rules, locks: new Map(), actors });
}

/** Makes moves until all actors have ended. Returns all states. */
function play(
  machine: Machine,
  choose = (steps: Move[], _kills: Move[]): Move | undefined => steps[0],
): Machine[] {
  const states = [machine];
  for (let move; (move = choose(stepsOf(machine), killsOf(machine))); states.push(machine))
    machine = move[1]();
  return states;
}

/** Lets a start, and a refresh of each replica, get what is published at the end. */
function settle(machine: Machine): void {
  const lives = machine.actors.map(({ live }) => live);
  for (const live of [undefined, ...lives]) play(begin([machine, [[refresh]]], machine.rules, live));
}

function keyOf({ pair, log, at, locks, actors }: Machine): string {
  let key = `${pair.whole?.inode} ${pair.changes?.inode} ${at} ${[...locks].join()}`;
  for (const { id } of log) key += ` ${id}`;
  for (const { commands, results, since, live } of actors) {
    key += `|${commands.length} ${since} ${live?.id}`;
    for (const file of results) key += `;${file?.inode}`;
  }
  return key;
}

/** Returns the first violation among all interleavings with all kills, and the moves that lead to it. */
function firstViolation(scenarios: readonly Scenario[], rules: pairs.Rules): string | undefined {
  const seen = new Set<string>();
  const titles: string[] = [];
  const visit = (machine: Machine) => {
    const { size } = seen;
    if (seen.add(keyOf(machine)).size === size) return;
    const moves = [...stepsOf(machine), ...killsOf(machine)];
    if (moves.length === 0) settle(machine);
    for (const [title, make] of moves) {
      titles.push(title);
      visit(make());
      titles.pop();
    }
  };
  try {
    for (const scenario of scenarios) {
      seen.clear();
      visit(begin(scenario, rules));
    }
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error;
    return `${error.message}: ${titles.join(', ')}`;
  }
  return undefined;
}

/** Returns the states of a folder: at first, and after each change by commands that nobody interrupts. */
function foldersOf(folder: Folder, ...commands: Command[]): Folder[] {
  const states = play(begin([folder, [commands]], RULES));
  return states.filter(({ pair }, index) => pair !== states.at(index - 1)?.pair);
}

/** Returns the pull of a folder. A push leaves out changes that add nothing to the whole file. */
function pullOf({ pair: { whole, changes } }: Folder): Command {
  assert(whole);
  return pull(contentOf({ whole, changes }, RULES)?.id === whole.id ? { whole } : { whole, changes });
}

type Writer = (name: string) => Command[];

const s0 = pairs.firstSnapshot('s0', 1);
const start: Folder = { pair: { whole: pairs.wholeFile(s0, 'e', 'W') }, log: [s0], at: 0 };
const [, s1, s2, tidied] = foldersOf(start, feed('s1'), feed('s2'), tidy('T'));
/** A full build, of data as old as those of the first feed. */
const full = (name: string) => publish(pairs.firstSnapshot(name, 2), name);
const rollback = (name: string) => publish(s1.log[1], name);
const [, stale] = foldersOf(s2, full('f'));
const writers: Writer[] = [(x) => [feed(x)], (x) => [tidy(x)], (x) => [full(x)], (x) => [rollback(x)]];
const replica = [refresh, refresh];

/** Two writers and a replica, where a folder has: a whole file, changes, changes that are whole, too, stale changes. */
const publications = [start, s1, tidied, stale].flatMap((folder): Scenario[] =>
  writers.flatMap((one, i) => {
    const others = writers.slice(i).map((other) => other('y'));
    if (folder === s1) others.push([feed('y1'), tidy('y2'), feed('y3')]);
    return others.map((other): Scenario => [folder, [replica, one('x'), other]]);
  }),
);

const pushes = foldersOf(start, feed('s1'), feed('s2'), tidy('T'), feed('s3'), full('f'), feed('s4'));

/** Pulls, which may miss pushes, and a replica, where a folder has one of the pushes and has gone on by itself. */
function pullsAfter(own: Command[], count: number, ...others: Command[][]): Scenario[] {
  const log = pushes[pushes.length - 1].log;
  return pushes.flatMap((got, i) =>
    foldersOf(got, ...own).flatMap((folder) => {
      const known = log.findIndex(({ id }) => id === folder.log[folder.at].id);
      const ahead = log.slice(known < 0 ? got.at : Math.min(got.at, known));
      const local = { ...folder, log: [...folder.log.slice(0, folder.at + 1), ...ahead] };
      const later = pushes.slice(i).map(pullOf);
      return later.map((_, j): Scenario => [local, [replica, later.slice(j, j + count), ...others]]);
    }),
  );
}

const pulls = [
  ...pullsAfter([feed('x'), tidy('X')], 2),
  ...pullsAfter([rollback('x')], 2),
  ...pullsAfter([feed('x')], 1, [tidy('X')]),
];

/** What breaks without a rule. */
const BROKEN: Readonly<
  Record<keyof pairs.Rules, readonly [scenarios: readonly Scenario[], violation: string]>
> = {
  opensChangesFirst: [publications, 'a replica goes back'],
  appliesInEpoch: [publications, 'a replica goes back'],
  appliesInHistory: [pulls, 'a replica has a mixture'],
  appliesSince: [pulls, 'a replica has a mixture'],
  refreshesByPair: [publications, 'a replica goes back'],
  locks: [publications, 'a feed loses another'],
  locksName: [publications, 'a start goes back'],
  checksBase: [publications, 'a feed loses another'],
  checksEpoch: [publications, 'a start goes back'],
  tidiesSameFile: [publications, 'a start goes back'],
  tidiesHistory: [pulls, 'a start goes back'],
  renamesFirst: [publications, 'a start goes back'],
  pullsWholeFirst: [pulls, 'a start goes back'],
  pullMakesWhole: [pulls, 'a start goes back'],
};

describe('A published pair of files, in a model with all interleavings and kills', () => {
  it('serves what is published, in order, and loses no feed, while others publish and tidy', () => {
    expect(firstViolation(publications, RULES)).to.equal(undefined);
  });

  it('serves what was pushed, in order, while a machine pulls', () => {
    expect(firstViolation(pulls, RULES)).to.equal(undefined);
  });

  for (const [rule, [scenarios, violation]] of Object.entries(BROKEN))
    it(`needs the rule ${rule}`, () => {
      const found = firstViolation(scenarios, { ...RULES, [rule]: false });
      expect(found?.split(':', 1)).to.deep.equal([violation]);
    });

  itDeep('keeps its promises over random histories, also where a machine pulls some of the states', () => {
    const anyProgram = fc.array(fc.constantFrom(...writers), { maxLength: 8 });
    const anyNumbers = fc.array(fc.nat(), { minLength: 100, maxLength: 300 });
    const replicas = [Array.from({ length: 20 }, () => refresh)];
    const playRandomly = (scenario: Scenario, numbers: readonly number[]) => {
      let index = 0;
      const states = play(begin(scenario, RULES), (steps, kills) => {
        const number = numbers[index++ % numbers.length];
        const moves = number % 8 === 0 ? [...steps, ...kills] : steps;
        return moves.at((number >>> 3) % moves.length);
      });
      settle(states[states.length - 1]);
      return states;
    };
    const property = fc.property(
      fc.array(anyProgram, { maxLength: 3 }),
      anyNumbers,
      anyNumbers,
      (programs, numbers, others) => {
        const commands = programs.map((one, i) => one.flatMap((writer, j) => writer(`${i}-${j}`)));
        const states = playRandomly([start, [...replicas, ...commands]], numbers);
        const [first, ...later] = [start, ...states.filter((_, i) => others[i % others.length] % 4 === 0)];
        playRandomly(
          [{ ...first, log: states[states.length - 1].log }, [...replicas, later.map(pullOf)]],
          others,
        );
      },
    );
    fc.assert(property, { numRuns: 5000 });
  });
});
