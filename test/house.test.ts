import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import ts from 'typescript';

/** Each folder of src, with those that it may import from. */
const ROOMS: Readonly<Partial<Record<string, readonly string[]>>> = {
  admin: ['http', 'snapshot', 'store', 'keys', 'contract'],
  threads: ['http', 'store', 'keys', 'contract'],
  http: ['query', 'store', 'keys', 'contract'],
  query: ['store', 'contract'],
  snapshot: ['store', 'contract'],
  keys: ['contract'],
  sample: ['contract'],
  store: ['contract'],
  contract: [],
};
/** What stands directly in src and does not, like main.ts and app.ts, put the rooms together. */
const APART = ['src/config.ts'];

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Text by path from the root. */
type Files = ReadonlyMap<string, string>;

function filesOf(...patterns: string[]): Files {
  const paths = globSync(patterns, { cwd: ROOT }).filter((path) => /\.\w+$|\/run$|^[A-Z]\w+$/.test(path));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

/** What a file imports, types included, from among the files of the project; `./x.ts` becomes `src/…/x.ts`. */
function importsOf(path: string, source: string): string[] {
  const { importedFiles } = ts.preProcessFile(source);
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter(isRelative)
    .map((name) => join(dirname(path), name));
}

/** What a file starts as a worker. It shares no module with that, so it is no import, but the rooms hold for it. */
function workersOf(path: string, source: string): string[] {
  const names = source.matchAll(/new URL\(\s*'([^']+\.ts)',\s*import\.meta\.url/g);
  return Array.from(names, ([, name]) => join(dirname(path), name));
}

function isRelative(name: string): boolean {
  return name.startsWith('.');
}

/** The folder of src that a file is in; undefined for what stands directly in src. */
function roomOf(path: string): string | undefined {
  const parts = path.split('/');
  return parts.length > 2 ? parts[1] : undefined;
}

function wrongImports(files: Files): string[] {
  return [...files].flatMap(([path, source]) =>
    [...importsOf(path, source), ...workersOf(path, source)]
      .filter((target) => !mayImport(path, target))
      .map((target) => `${path} → ${target}`),
  );
}

function mayImport(path: string, target: string): boolean {
  if (!target.startsWith('src/')) return false;
  const from = roomOf(path);
  const to = roomOf(target);
  if (from === undefined) return !APART.includes(path);
  return to !== undefined && (from === to || (ROOMS[from]?.includes(to) ?? false));
}

/** The first circle of imports that is found, as the files on it, each importing the next. */
function circleIn(files: Files): string[] | undefined {
  const done = new Set<string>();
  const way: string[] = [];
  const walk = (path: string): string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return undefined;
    way.push(path);
    for (const target of importsOf(path, files.get(path) ?? '')) {
      const circle = walk(target);
      if (circle) return circle;
    }
    way.pop();
    done.add(path);
    return undefined;
  };
  for (const path of files.keys()) {
    const circle = walk(path);
    if (circle) return circle;
  }
  return undefined;
}

function environmentReaders(files: Files): string[] {
  const reads =
    /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\s*\[\s*['"]env['"]|\benv\b[^;]*\bfrom\s*'(node:)?process'/;
  return [...files].filter(([, source]) => reads.test(source)).map(([path]) => path);
}

/** Where somebody's machine or package source shows, as `path:line`. */
function tracesOfTheMachine(files: Files): string[] {
  const traces =
    /(?<![\w.~-])\/(work|root|home|Users|tmp)\/|\bregistry\.[\w-]+\.|\bnpmjs\b|\blocal-?registry\b/i;
  return [...files].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, i) => (traces.test(line) ? [`${path}:${i + 1}`] : [])),
  );
}

describe('The house', () => {
  const source = filesOf('src/**/*.ts');

  it('has a place for every folder of src', () => {
    const rooms = new Set(Array.from(source.keys(), roomOf).filter((room) => room !== undefined));
    expect(Object.keys(ROOMS)).to.include.members([...rooms]);
  });

  it('imports one way only', () => {
    expect(wrongImports(source)).to.deep.equal([]);
  });

  it('has no circle of imports', () => {
    const circle = circleIn(source);
    expect(circle, circle?.join(' → ')).to.equal(undefined);
  });

  it('reads the environment in one place', () => {
    const readers = environmentReaders(source);
    // The other one writes to it, for Node.
    expect(readers).to.deep.equal(['src/cache-compiled-code.ts', 'src/config.ts']);
  });

  it('shows nothing of the machine that it was made on', () => {
    const files = filesOf(
      ...['src', 'scripts', 'docs', '.ci'].map((folder) => `${folder}/**/*`),
      ...['*.md', '.env.example', 'Procfile', 'data/*.sql'],
    );
    expect([...files.keys()]).to.include.members(['.ci/run', '.env.example', 'Procfile', 'data/keys.sql']);
    expect(tracesOfTheMachine(files)).to.deep.equal([]);
  });
});

describe('The checks of the house', () => {
  const files = (entries: Record<string, string>): Files => new Map(Object.entries(entries));

  it('see an import against the way, however it is written', () => {
    const into = (path: string, statement: string) => wrongImports(files({ [path]: statement }));
    expect(into('src/contract/a.ts', "import { b } from '../http/b.ts';")).to.deep.equal([
      'src/contract/a.ts → src/http/b.ts',
    ]);
    expect(into('src/snapshot/a.ts', "import type { B } from '../keys/b.ts';")).to.have.length(1);
    expect(into('src/sample/deep/a.ts', "export * from '../../store/b.ts';")).to.have.length(1);
    expect(into('src/query/a.ts', "const b = await import('../http/b.ts');")).to.have.length(1);
    expect(into('src/query/a.ts', "new Worker(new URL('../http/b.ts', import.meta.url));")).to.have.length(1);
    expect(into('src/http/a.ts', "import { readConfig } from '../config.ts';")).to.have.length(1);
    expect(into('src/config.ts', "import { b } from './contract/b.ts';")).to.have.length(1);
    expect(into('src/main.ts', "import { b } from '../test/b.ts';")).to.have.length(1);
    expect(into('src/store/a.ts', "import { b } from '../../scripts/b.ts';")).to.have.length(1);
    expect(into('src/elsewhere/a.ts', "import { b } from '../contract/b.ts';")).to.have.length(1);
  });

  it('let the others pass', () => {
    const right = files({
      'src/main.ts':
        "import { a } from './app.ts'; import { b } from './http/b.ts'; import ts from 'typescript';",
      'src/http/b.ts': "import { c } from '../query/c.ts'; import { d } from './d.ts'; import 'node:fs';",
      'src/sample/e/f.ts': "import { g } from '../g.ts';",
      'src/snapshot/h.ts': "new URL('../../data/schema.sql', import.meta.url); // import '../keys/i.ts'",
    });
    expect(wrongImports(right)).to.deep.equal([]);
  });

  it('see a circle, types included', () => {
    const round = files({
      'src/a.ts': "import { b } from './b.ts';",
      'src/b.ts': "import type { C } from './http/c.ts';",
      'src/http/c.ts': "import { b } from '../b.ts';",
    });
    expect(circleIn(round)).to.deep.equal(['src/b.ts', 'src/http/c.ts', 'src/b.ts']);
  });

  it('see each way to read the environment', () => {
    const readers = files({
      'a.ts': 'process.env.PORT',
      'b.ts': "import { env } from 'node:process';",
      'c.ts': "process['env']",
      'd.ts': 'const { environment } = process;',
    });
    expect(environmentReaders(readers)).to.deep.equal(['a.ts', 'b.ts', 'c.ts']);
  });

  it('see paths of a machine and package sources, and no others', () => {
    const home = ['', 'home', 'someone'].join('/');
    const host = ['registry', 'example', 'org'].join('.');
    const text = `src/store/home/page.ts\ncd ${home}\nhttps://${host}/foyer\nhttps://example.org/home/\nthe registry.`;
    expect(tracesOfTheMachine(files({ 'README.md': text }))).to.deep.equal(['README.md:2', 'README.md:3']);
  });
});
