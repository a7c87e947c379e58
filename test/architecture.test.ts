import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { importsOf, namesIn, threadsOf } from './support/imports.ts';

/** The folders of src, and the sample generator, each with the folders of src that it may import. */
const FOLDERS: Readonly<Partial<Record<string, readonly string[]>>> = {
  'scripts/sample': ['contract'],
  admin: ['workers', 'http', 'counts', 'pages', 'snapshot', 'store', 'keys', 'log', 'contract'],
  workers: ['http', 'counts', 'store', 'keys', 'log', 'contract'],
  http: ['counts', 'query', 'pages', 'store', 'keys', 'contract'],
  counts: ['keys', 'contract'],
  query: ['store', 'contract'],
  snapshot: ['store', 'contract'],
  pages: [],
  keys: ['contract'],
  store: [],
  log: [],
  contract: [],
};
/** The folders inside snapshot, each with the others that it may import. */
const SNAPSHOT_FOLDERS: Readonly<Partial<Record<string, readonly string[]>>> = {
  admission: ['format'],
  watch: ['format'],
  builder: ['builder/merge', 'builder/staging', 'builder/import', 'load', 'format'],
  'builder/merge': ['builder/staging', 'load', 'format'],
  'builder/staging': ['builder/import', 'format'],
  'builder/import': ['format'],
  publish: ['load', 'format'],
  load: ['format'],
  format: [],
};
/** Files that every folder may import. */
const FOUNDATIONS = ['package.json', 'src/clock.ts', 'src/config.ts'];
/** Files at the top of src that import no folder. All others there, such as main.ts, put the folders together. */
const INDEPENDENT = ['src/compile-cache.ts', ...FOUNDATIONS];

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Text by path from the root. */
type Files = ReadonlyMap<string, string>;

function filesOf(...patterns: string[]): Files {
  const paths = globSync(patterns, { cwd: ROOT }).filter((path) => /\.\w+$|\/run$|^[A-Z]\w+$/.test(path));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

/** Returns the key of a file's folder in `FOLDERS`; undefined for a file at the top of src. */
function folderOf(path: string): string | undefined {
  if (path.startsWith('scripts/sample/')) return 'scripts/sample';
  const parts = path.split('/');
  return parts.length > 2 ? parts[1] : undefined;
}

function wrongImports(files: Files): string[] {
  return [...files].flatMap(([path, source]) =>
    [...importsOf(path, source), ...threadsOf(path, source)]
      .filter((target) => !mayImport(path, target))
      .map((target) => `${path} → ${target}`),
  );
}

function mayImport(path: string, target: string): boolean {
  const from = folderOf(path);
  const to = folderOf(target);
  if (from === to && from !== undefined) return from !== 'snapshot' || mayImportInSnapshot(path, target);
  if (FOUNDATIONS.includes(target)) return true;
  if (!target.startsWith('src/')) return false;
  if (from === undefined) return !INDEPENDENT.includes(path);
  return to !== undefined && (FOLDERS[from]?.includes(to) ?? false);
}

function mayImportInSnapshot(path: string, target: string): boolean {
  const [from, to] = [path, target].map((file) => dirname(file).replace(/^src\/snapshot\/?/, ''));
  return from === to || (SNAPSHOT_FOLDERS[from]?.includes(to) ?? false);
}

/** Returns a cycle of imports as its files, each importing the next. */
function cycleIn(files: Files): string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    path.push(file);
    for (const target of importsOf(file, files.get(file) ?? '')) {
      const cycle = visit(target);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of files.keys()) {
    const cycle = visit(file);
    if (cycle) return cycle;
  }
  return undefined;
}

/** Returns the imports of page modules, types included, from folders other than their own and `shared`. */
function importsOfOtherPages(files: Files): string[] {
  return [...files].flatMap(([path, source]) =>
    [...importsOf(path, source), ...documentedTypesOf(path, source)]
      .filter((target) => ![dirname(path), 'src/pages/shared'].includes(dirname(target)))
      .map((target) => `${path} → ${target}`),
  );
}

/** Returns the modules from which the JSDoc comments of a module import types. */
function documentedTypesOf(path: string, source: string): string[] {
  const names = source.matchAll(/@import\b[^']*'(\.[^']+)'/g);
  return Array.from(names, ([, name]) => join(dirname(path), name));
}

/** Returns the imports of the client that are not its own files. */
function foreignImports(files: Files): string[] {
  return [...files].flatMap(([path, source]) =>
    namesIn(source)
      .filter((name) => !name.startsWith('.') || !join(dirname(path), name).startsWith('client/src/'))
      .map((name) => `${path} → ${name}`),
  );
}

function environmentReaders(files: Files): string[] {
  const reads =
    /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\s*\[\s*['"]env['"]|\benv\b[^;]*\bfrom\s*'(node:)?process'/;
  return [...files].filter(([, source]) => reads.test(source)).map(([path]) => path);
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
  const source = filesOf('src/**/*.ts');
  const sample = filesOf('scripts/sample/**/*.ts');
  const pages = filesOf('src/pages/**/*.js');

  it('has an import rule for every folder of src', () => {
    const folders = new Set(Array.from(source.keys(), folderOf).filter((folder) => folder !== undefined));
    expect(Object.keys(FOLDERS)).to.include.members([...folders]);
  });

  it('allows imports in one direction only', () => {
    expect(wrongImports(new Map([...source, ...sample]))).to.deep.equal([]);
  });

  it('has no import cycle', () => {
    const cycle = cycleIn(new Map([...source, ...pages]));
    expect(cycle, cycle?.join(' → ')).to.equal(undefined);
  });

  it('keeps each page apart from the others', () => {
    expect([...pages.keys()]).to.include.members(['src/pages/docs/docs.js', 'src/pages/status/status.js']);
    expect(importsOfOtherPages(pages)).to.deep.equal([]);
  });

  it('keeps the TypeScript client self-contained', () => {
    const client = filesOf('client/src/**/*.ts');
    expect([...client.keys()]).to.include('client/src/foyer-client.ts');
    expect(foreignImports(client)).to.deep.equal([]);
  });

  it('reads the environment in one file', () => {
    const readers = environmentReaders(source);
    // compile-cache.ts sets a variable that Node reads.
    expect(readers).to.deep.equal(['src/compile-cache.ts', 'src/config.ts']);
  });

  it('declares the values of a command before it starts', () => {
    expect(lateDeclarations(filesOf('scripts/**/*.ts'))).to.deep.equal([]);
  });

  it('contains no absolute path of a machine and no package registry host', () => {
    const files = filesOf(
      ...['src', 'scripts', 'docs', 'client/src', 'examples', '.ci'].map((folder) => `${folder}/**/*`),
      ...['*.md', '.env.example', 'Procfile', 'data/*.sql', 'client/*.{json,md}'],
    );
    expect([...files.keys()]).to.include.members(['.ci/run', '.env.example', 'Procfile', 'data/keys.sql']);
    expect(machineTraces(files)).to.deep.equal([]);
  });
});

describe('The checks of the architecture', () => {
  const files = (entries: Record<string, string>): Files => new Map(Object.entries(entries));

  it('find an import in the wrong direction, in every form', () => {
    const into = (path: string, statement: string) => wrongImports(files({ [path]: statement }));
    expect(into('src/contract/a.ts', "import { b } from '../http/b.ts';")).to.deep.equal([
      'src/contract/a.ts → src/http/b.ts',
    ]);
    expect(into('src/snapshot/a.ts', "import type { B } from '../keys/b.ts';")).to.have.length(1);
    expect(into('scripts/sample/deep/a.ts', "export * from '../../../src/store/b.ts';")).to.have.length(1);
    expect(into('src/query/a.ts', "const b = await import('../http/b.ts');")).to.have.length(1);
    expect(into('src/query/a.ts', "new Worker(new URL('../http/b.ts', import.meta.url));")).to.have.length(1);
    expect(into('src/http/a.ts', "import { startRefresh } from '../refresh.ts';")).to.have.length(1);
    expect(into('src/config.ts', "import { b } from './contract/b.ts';")).to.have.length(1);
    expect(into('src/main.ts', "import { b } from '../test/b.ts';")).to.have.length(1);
    expect(into('src/store/a.ts', "import { b } from '../../scripts/b.ts';")).to.have.length(1);
    expect(into('src/snapshot/format/a.ts', "import { b } from '../load/b.ts';")).to.have.length(1);
    expect(into('src/snapshot/publish/a.ts', "import { b } from '../watch/b.ts';")).to.have.length(1);
    expect(into('src/snapshot/builder/import/a.ts', "import '../merge/b.ts';")).to.have.length(1);
    expect(into('src/elsewhere/a.ts', "import { b } from '../contract/b.ts';")).to.have.length(1);
  });

  it('accept every other import', () => {
    const allowed = files({
      'src/main.ts':
        "import { a } from './app.ts'; import { b } from './http/b.ts'; import ts from 'typescript';",
      'src/http/b.ts': "import { c } from '../query/c.ts'; import { d } from './d.ts'; import 'node:fs';",
      'scripts/sample/e/f.ts': "import { g } from '../g.ts'; import '../../../src/contract/h.ts';",
      'src/snapshot/load/h.ts':
        "import '../format/i.ts'; new URL('../../data/schema.sql', import.meta.url); // '../keys/i.ts'",
    });
    expect(wrongImports(allowed)).to.deep.equal([]);
  });

  it('find a cycle, types included', () => {
    const cyclic = files({
      'src/a.ts': "import { b } from './b.ts';",
      'src/b.ts': "import type { C } from './http/c.ts';",
      'src/http/c.ts': "import { b } from '../b.ts';",
    });
    expect(cycleIn(cyclic)).to.deep.equal(['src/b.ts', 'src/http/c.ts', 'src/b.ts']);
  });

  it('find an import of another page, in code and in comments', () => {
    const modules = files({
      'src/pages/docs/a.js': "import '../shared/b.js'; import './c.js'; import 'lit-html';",
      'src/pages/docs/c.js': "import { d } from '../status/d.js'; import '../../http/e.ts';",
      'src/pages/shared/b.js': "/** @import { A } from '../docs/a.js' */ /** @import { F } from './f.js' */",
    });
    expect(importsOfOtherPages(modules)).to.deep.equal([
      'src/pages/docs/c.js → src/pages/status/d.js',
      'src/pages/docs/c.js → src/http/e.ts',
      'src/pages/shared/b.js → src/pages/docs/a.js',
    ]);
  });

  it('find an import out of the client, or of a package', () => {
    const client = files({
      'client/src/a.ts': "import { b } from './b.ts'; export { c } from './c/d.ts';",
      'client/src/b.ts':
        "import type { C } from '../../src/c.ts'; import 'node:fs'; import ts from 'typescript';",
    });
    expect(foreignImports(client)).to.deep.equal([
      'client/src/b.ts → ../../src/c.ts',
      'client/src/b.ts → node:fs',
      'client/src/b.ts → typescript',
    ]);
  });

  it('find each way to read the environment', () => {
    const readers = files({
      'a.ts': 'process.env.PORT',
      'b.ts': "import { env } from 'node:process';",
      'c.ts': "process['env']",
      'd.ts': 'const { environment } = process;',
    });
    expect(environmentReaders(readers)).to.deep.equal(['a.ts', 'b.ts', 'c.ts']);
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
