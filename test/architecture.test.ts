import { globSync, readFileSync, statSync } from 'node:fs';
import { join, matchesGlob } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { importsOf, modulesOf, namesIn } from './support/imports.ts';

/** The types of the records, which are generated from the contract. */
const CONTRACT_TYPES = 'client/src/generated/openapi.ts';
/** Files at the top of src that every folder may import. */
const FOUNDATIONS = ['src/clock.ts', 'src/config.ts'];
/** The data that the folders of snapshots read and write. */
const DATA = ['src/store', 'src/contract', ...FOUNDATIONS];
/** What several commands use. */
const COMMAND_LINE = ['src', 'scripts/terminal', 'scripts/{run-command,interruption,times}.ts'];

/**
 * Folders and files, each with the others that it may import. A file belongs to the first that contains it, and may
 * import all of the same. A name may be a glob: `test/*` is every folder of tests.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/contract': FOUNDATIONS,
  'src/log': FOUNDATIONS,
  'src/store': ['src/contract', ...FOUNDATIONS],
  'src/keys': ['src/contract', ...FOUNDATIONS],
  'src/pages/explorer': ['src/pages/shared', CONTRACT_TYPES],
  // The types of the responses that it shows.
  'src/pages/status': ['src/pages/shared', 'src/admin/{status,request-history}.ts'],
  'src/pages/*': ['src/pages/shared'],
  'src/snapshot/format': DATA,
  'src/snapshot/{admission,watch,load}': ['src/snapshot/format', ...DATA],
  'src/snapshot/write': ['src/snapshot/{load,format}', ...DATA],
  'src/snapshot/publish': ['src/snapshot/{write,load,format}', ...DATA],
  'src/snapshot/builder/import': ['src/snapshot/format', ...DATA],
  'src/snapshot/builder/staging': [
    'src/snapshot/builder/import',
    'src/snapshot/{write,load,format}',
    ...DATA,
  ],
  'src/snapshot/builder/merge': ['src/snapshot/builder/staging', 'src/snapshot/{write,load,format}', ...DATA],
  'src/snapshot/builder': ['src/snapshot/{publish,write,load,format}', ...DATA],
  'src/query': DATA,
  'src/counts': ['src/{keys,contract}', ...FOUNDATIONS],
  'src/http': ['src/{counts,query,pages,keys}', ...DATA],
  'src/workers': ['src/{http,counts,keys,log}', ...DATA],
  'src/admin': ['src/{workers,http,counts,pages,snapshot,keys,log}', ...DATA],
  // They import no folder. The other files at the top of src, such as main.ts, put the folders together.
  'src/{config,clock}.ts': FOUNDATIONS,
  'src/*.ts': ['src'],
  'client/src': [],
  'scripts/terminal': [],
  'scripts/sample': ['src/contract'],
  'scripts/bench': ['scripts/sample', ...COMMAND_LINE],
  'scripts/demo': ['scripts/sample', ...COMMAND_LINE],
  'scripts/{diff,reference}': COMMAND_LINE,
  'scripts/snapshot': ['scripts/diff', ...COMMAND_LINE],
  'scripts/*.ts': ['src', 'scripts'],
  'examples/*': ['client/src'],
  'test/*': [
    'src',
    'client/src',
    'scripts/{sample,demo,diff,snapshot,terminal}',
    'scripts/reference/alerts.ts',
    'scripts/*.ts',
    'test/support',
  ],
};

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Text by path from the root. */
type Files = ReadonlyMap<string, string>;

function filesOf(...patterns: string[]): Files {
  const paths = globSync(patterns, { cwd: ROOT }).filter((path) => statSync(join(ROOT, path)).isFile());
  return new Map(paths.sort().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

/** Returns the folder or file of a name in `MAY_IMPORT` that contains a path; undefined if none does. */
function partIn(name: string, path: string): string | undefined {
  const part = path.split('/').slice(0, name.split('/').length).join('/');
  return matchesGlob(part, name) ? part : undefined;
}

function wrongImports(files: Files): string[] {
  return [...files].flatMap(([path, source]) =>
    importsOf(path, source)
      .filter((target) => !mayImport(path, target))
      .map((target) => `${path} → ${target}`),
  );
}

function mayImport(path: string, target: string): boolean {
  const name = Object.keys(MAY_IMPORT).find((one) => partIn(one, path) !== undefined);
  if (name === undefined) return false;
  const isOwn = partIn(name, target) === partIn(name, path);
  return (
    isOwn || target.endsWith('.json') || MAY_IMPORT[name].some((one) => partIn(one, target) !== undefined)
  );
}

/** Returns a cycle of imports as its files, each importing the next. */
function cycleIn(files: Files): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    done.add(file);
    const targets = modulesOf(file, files.get(file) ?? '');
    return targets.map((target) => visit(target, [...path, file])).find((cycle) => cycle !== undefined);
  };
  return [...files.keys()].map((file) => visit(file, [])).find((cycle) => cycle !== undefined);
}

/** Returns the lines with an absolute path of a machine or a package registry host, as `path:line`. */
function machineTraces(files: Files): string[] {
  const traces =
    /(?<![\w.~-])\/(work|root|home|Users|tmp)\/|\bregistry\.[\w-]+\.|\bnpmjs\b|\blocal-?registry\b/i;
  return [...files].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, i) => (traces.test(line) ? [`${path}:${i + 1}`] : [])),
  );
}

/** Returns the commands that declare a value after they start: it has none while they run. */
function lateDeclarations(files: Files): string[] {
  const late = /^if \(import\.meta\.main\).*^(export )?(const|let|class) /ms;
  return [...files].filter(([, source]) => late.test(source)).map(([path]) => path);
}

describe('The architecture', () => {
  const code = filesOf(
    '{src,scripts,client/src,examples}/**/*.{ts,js}',
    'test/!(architecture*)/**/*.ts',
    'test/!(architecture)*.ts',
  );

  it('allows imports in one direction only', () => {
    expect(code.size).to.be.above(300);
    expect(wrongImports(code)).to.deep.equal([]);
  });

  it('exports each name of src once, except those of pages', () => {
    const names = [...filesOf('src/!(pages)/**/*.ts', 'src/*.ts').values()].flatMap((source) =>
      Array.from(
        source.matchAll(/^export (?:async )?(?:function\*?|const|class|type|interface) (\w+)/gm),
        ([, name]) => name,
      ),
    );
    expect(names.length).to.be.above(500);
    expect(names.filter((name, i) => names.indexOf(name) < i)).to.deep.equal([]);
  });

  it('has no import cycle', () => {
    const cycle = cycleIn(code);
    expect(cycle, cycle?.join(' → ')).to.equal(undefined);
  });

  it('keeps the TypeScript client free of packages', () => {
    const names = filesOf('client/src/**/*.ts').values().flatMap(namesIn);
    expect([...names].filter((name) => !name.startsWith('.'))).to.deep.equal([]);
  });

  it('declares the values of a command before it starts', () => {
    expect(lateDeclarations(code)).to.deep.equal([]);
  });

  it('contains no absolute path of a machine and no package registry host', () => {
    const files = filesOf(
      ...['src', 'scripts', 'docs', 'client/src', 'deploy', 'examples', '.ci'].map(
        (folder) => `${folder}/**/*`,
      ),
      ...['*.md', '.env.example', 'Procfile', 'data/*.sql', 'client/*.{json,md}'],
    );
    expect([...files.keys()]).to.include.members(['.ci/run', '.env.example', 'Procfile', 'data/keys.sql']);
    expect(machineTraces(files)).to.deep.equal([]);
  });
});

describe('The checks of the architecture', () => {
  const files = (entries: Record<string, string>): Files => new Map(Object.entries(entries));

  for (const [path, statement] of [
    ['src/snapshot/load/a.ts', "import type { B } from '../../keys/b.ts';"],
    ['src/query/a.ts', "const b = await import('../http/b.ts');"],
    ['src/query/a.ts', "new Worker(new URL('../http/b.ts', import.meta.url));"],
    ['src/elsewhere/a.ts', "import { b } from '../contract/b.ts';"],
    ['src/pages/docs/a.js', "/** @import { B } from '../status/b.js' */"],
    ['scripts/sample/deep/a.ts', "export * from '../../../src/store/b.ts';"],
    ['test/system/a.ts', "import { b } from '../resilience/b.ts';"],
  ]) {
    it(`find the wrong import of ${path}: ${statement}`, () => {
      expect(wrongImports(files({ [path]: statement }))).to.have.length(1);
    });
  }

  it('find a cycle, types included', () => {
    const cyclic = files({
      'src/a.ts': "import { b } from './b.ts';",
      'src/b.ts': "import type { C } from './http/c.ts';",
      'src/http/c.ts': "import { b } from '../b.ts';",
    });
    expect(cycleIn(cyclic)).to.deep.equal(['src/b.ts', 'src/http/c.ts', 'src/b.ts']);
  });

  it('find absolute paths and package registry hosts, and nothing else', () => {
    const home = ['', 'home', 'someone'].join('/');
    const host = ['registry', 'example', 'org'].join('.');
    const text = `src/store/home/page.ts\ncd ${home}\nhttps://${host}/foyer\nhttps://example.org/home/\nthe registry.`;
    expect(machineTraces(files({ 'README.md': text }))).to.deep.equal(['README.md:2', 'README.md:3']);
  });

  it('find a value that is declared after the start', () => {
    const start = 'if (import.meta.main) process.exitCode = await main();\n';
    const commands = files({
      'a.ts': `${start}const A = 1;`,
      'b.ts': `const B = 1;\n${start}function f() {\n  const c = B;\n}`,
    });
    expect(lateDeclarations(commands)).to.deep.equal(['a.ts']);
  });
});
