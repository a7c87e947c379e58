import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { memoryNeed, plannedMemory } from '../../src/snapshot/admission/memory.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { JSON_OPTION, printJson, Refused, wholeNumber } from '../run-command.ts';
import { print, warn } from '../terminal/print.ts';
import { left, right, table } from '../terminal/table.ts';
import { count, size } from '../terminal/units.ts';
import { onFile } from './snapshot-file.ts';

/** The maps from organizations to shards that the configurations in deploy/ read. */
const HAPROXY_MAP = 'haproxy.map';
const NGINX_MAP = 'nginx.map';
const UNITS: Readonly<Record<string, number>> = { M: 1e6, G: 1e9, T: 1e12 };

interface PlanChoices {
  readonly memory: number;
  readonly threads: number;
  readonly output?: string;
  readonly json?: true;
}

interface PlannedFile {
  readonly file: string;
  readonly need: ReturnType<typeof memoryNeed>;
  readonly ids: readonly string[];
  /** The shard in the earlier map of its name, else of one of its organizations. */
  readonly earlier: number | undefined;
}

export function addPlan(program: Command): void {
  program
    .command('plan')
    .description('Distributes snapshot files over machines by their memory, and writes the maps of proxies.')
    .argument('<file...>', 'snapshot files: all of a fleet')
    .requiredOption('--memory <size>', 'memory of the process on a machine, such as 16G (10^9 bytes)', bytes)
    .option('--threads <n>', 'threads that answer requests on a machine', wholeNumber(1, 256), 1)
    .option(
      '--output <dir>',
      `folder for ${HAPROXY_MAP} and ${NGINX_MAP}; an earlier ${HAPROXY_MAP} in it keeps files in place`,
    )
    .option(...JSON_OPTION)
    .action(plan);
}

function bytes(text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([MGT])$/.exec(text) ?? [];
  if (Number(number) > 0) return Number(number) * UNITS[unit];
  throw new InvalidArgumentError('It must be a number with M, G or T, such as 16G.');
}

function plan(paths: readonly string[], { memory, threads, output, json }: PlanChoices): void {
  if (output !== undefined && !(existsSync(output) && statSync(output).isDirectory()))
    throw new Refused(`${output}: no such folder for the output`);
  const earlier = readMap(output === undefined ? '' : join(output, HAPROXY_MAP));
  const fileOf = new Map<string, string>();
  const files = paths.map((file): PlannedFile => {
    const { organizations } = onFile(file, () => inspectSnapshot(file));
    const ids = organizations.map(({ organizationId }) => organizationId);
    const keys = [nameOf(file), ...ids];
    for (const [i, key] of keys.entries()) {
      const other = fileOf.get(key);
      const what = i === 0 ? 'its name' : `organization ${key}`;
      if (other !== undefined) throw new Refused(`${file}: ${what} is also that of ${other}`, { file });
      fileOf.set(key, file);
    }
    const shard = keys.map((key) => earlier.get(key)).find((found) => found !== undefined);
    return { file, need: memoryNeed(organizations), ids, earlier: shard };
  });
  const neededBy = (some: readonly PlannedFile[]) =>
    plannedMemory(
      some.map(({ need }) => need),
      threads,
    );
  for (const one of files) {
    const needed = neededBy([one]);
    if (needed <= memory) continue;
    const message = `${one.file}: needs ${size(needed)} of memory, more than the ${size(memory)} of a machine; divide its organizations among several files`;
    throw new Refused(message, { file: one.file, neededBytes: needed });
  }

  const shards = distribute(files, (some) => neededBy(some) <= memory);
  if (output !== undefined) writeMaps(output, shards);
  const described = shards.map(({ shard, planned }) => {
    const needed = neededBy(planned);
    const files = planned.map(({ file, need, ids }) => {
      const from = Map.groupBy(ids, (id) => earlier.get(id) ?? shard);
      from.delete(shard);
      const moved = Array.from(from, ([fromShard, organizations]) => ({ fromShard, organizations }));
      return { file, dataBytes: need.held, organizations: ids.length, moved };
    });
    return { shard, neededBytes: needed, leftBytes: memory - needed, files };
  });
  const missing = [...earlier.keys()].filter((key) => !key.startsWith('# ') && !fileOf.has(key));
  if (json) {
    printJson({ memoryBytes: memory, shards: described, missing });
    return;
  }
  const columns = [right('SHARD'), ...['NEEDED', 'LEFT', 'DATA', 'ORGANIZATIONS'].map(right), left('FILE')];
  const rows = described.flatMap(({ shard, neededBytes, leftBytes, files }) =>
    files.map(({ file, dataBytes, organizations }, i) => [
      ...(i === 0 ? [String(shard), size(neededBytes), size(leftBytes)] : ['', '', '']),
      ...[size(dataBytes), count(organizations), file],
    ]),
  );
  print(table(columns, rows));
  for (const { shard, files } of described)
    for (const { file, moved } of files)
      for (const { fromShard, organizations } of moved)
        warnAbout(`${file}: organizations that move from shard ${fromShard} to ${shard}`, organizations);
  warnAbout('organizations of the earlier map that no file has', missing);
}

/**
 * Distributes files over shards, which are numbered from 1. A file stays on its earlier shard if the larger ones that
 * stay leave room. All others go, largest first, to the first shard with room. The order of the files does not matter.
 */
function distribute(files: readonly PlannedFile[], fits: (planned: readonly PlannedFile[]) => boolean) {
  const shards = new Map<number, readonly PlannedFile[]>();
  const isPlaced = (file: PlannedFile, shard: number): boolean => {
    const planned = [...(shards.get(shard) ?? []), file];
    if (fits(planned)) shards.set(shard, planned);
    return shards.get(shard) === planned;
  };
  const largestFirst = files.toSorted((a, b) => b.need.held - a.need.held || (a.file < b.file ? -1 : 1));
  const others = largestFirst.filter((file) => file.earlier === undefined || !isPlaced(file, file.earlier));
  for (const file of others) for (let shard = 1; !isPlaced(file, shard); shard++);
  return Array.from(shards, ([shard, planned]) => ({ shard, planned })).sort((a, b) => a.shard - b.shard);
}

/** Returns the key of a file in a map, a comment. The id of an organization has no blank. */
const nameOf = (file: string) => `# ${basename(file)}:`;

/** Reads the shards of the names of files, and of organizations, from a map of HAProxy; none if it is absent. */
function readMap(path: string): ReadonlyMap<string, number> {
  const shards = new Map<string, number>();
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split(/\r?\n/) : [];
  for (const [i, line] of lines.entries()) {
    const found = /^(o:\S+|# .+:) +shard-([1-9]\d{0,3})$/.exec(line);
    if (found !== null) shards.set(found[1].replace(/^o:/, ''), Number(found[2]));
    else if (!/^(#.*)?$/.test(line))
      throw new Refused(`${path}: line ${i + 1} must be o:ORGANIZATION shard-NUMBER, or begin with #`);
  }
  return shards;
}

function warnAbout(what: string, ids: readonly string[]): void {
  if (ids.length > 0) warn(`warning: ${what}: ${count(ids.length)}, such as ${ids[0]}`);
}

function writeMaps(folder: string, shards: ReturnType<typeof distribute>): void {
  const all = shards.flatMap(({ planned }) => planned.flatMap(({ ids }) => ids));
  // nginx compares texts without regard to case, and regular expressions with it.
  const spellings = Map.groupBy(all, (id) => id.toLowerCase());
  const nginxKey = (id: string) =>
    spellings.get(id.toLowerCase())?.length === 1 ? `o:${id}` : `~^o:${id.replace(/\W/g, '\\$&')}$`;
  const textOf = (entry: (id: string, shard: number) => string) =>
    shards
      .flatMap(({ shard, planned }) =>
        planned.flatMap(({ file, ids }) => [
          `${nameOf(file)} shard-${shard}\n`,
          ...ids.map((id) => entry(id, shard)),
        ]),
      )
      .join('');
  const maps = {
    [HAPROXY_MAP]: textOf((id, shard) => `o:${id} shard-${shard}\n`),
    [NGINX_MAP]: textOf((id, n) => `"${nginxKey(id).replace(/["\\]/g, '\\$&')}" shard-${n};\n`),
  };
  const draftOf = (name: string) => join(folder, `.${name}.draft`);
  for (const [name, text] of Object.entries(maps)) writeFileSync(draftOf(name), text);
  for (const name of Object.keys(maps)) renameSync(draftOf(name), join(folder, name));
}
