import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import packageJson from '../package.json' with { type: 'json' };
import { bytesInUse, memoryNeed, plannedMemory } from '../src/snapshot/admission/memory.ts';
import { COLLECTIONS } from '../src/snapshot/format/layout.ts';
import { REFUSALS, TRANSIENT_REASONS } from '../src/snapshot/format/refused-snapshot.ts';
import { FORMAT_VERSION } from '../src/snapshot/format/schema.ts';
import { MEGABYTE } from '../src/store/memory/shared-arrays.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENTS = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/reference.md',
  'docs/decisions.md',
  'docs/data.md',
  'docs/snapshot-format.md',
  'docs/operations.md',
  'docs/integrators.md',
  'docs/performance.md',
  'docs/reliability.md',
  'examples/postgresql/README.md',
  'client/README.md',
  'SECURITY.md',
];

/** Returns the cells of the table rows that begin with `code`. */
function codeRows(text: string): string[][] {
  return Array.from(text.matchAll(/^\| `([^|]+)\|(.*)\|$/gm), ([, head, rest]) => [
    `\`${head.trim()}`,
    ...rest.split('|').map((cell) => cell.trim()),
  ]);
}

describe('CONTRIBUTING.md', () => {
  it('has a line for each dependency, and no other line', () => {
    const { dependencies, devDependencies } = packageJson;
    const contributing = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    const section = contributing.slice(contributing.indexOf('## Dependencies'));
    const listed = Array.from(section.matchAll(/^\| (?!package)([@\w][^|]*) \|/gm), ([, names]) => names)
      .flatMap((names) => names.replace(' (development)', '').split(', '))
      .sort();
    const needed = Object.keys({ ...dependencies, ...devDependencies })
      .filter((name) => !name.startsWith('@types/') && name !== '@eslint/js')
      .sort();
    expect(listed).to.deep.equal(needed);
  });
});

describe('The documents', () => {
  it('name existing npm scripts only', () => {
    const named = DOCUMENTS.flatMap((document) => {
      const text = readFileSync(join(ROOT, document), 'utf8');
      const names = text.matchAll(/\bnpm (?:run (?:-s )?(?<script>[a-z:]+)|(?<direct>start|test)\b)/g);
      return Array.from(names, ({ groups = {} }) => groups['script'] ?? groups['direct']);
    });
    expect(named).to.have.length.above(20);
    expect(Object.keys(packageJson.scripts)).to.include.members([...new Set(named)]);
  });

  it('name existing tests, in SECURITY.md and docs/reliability.md', () => {
    for (const document of ['SECURITY.md', 'docs/reliability.md']) {
      const text = readFileSync(join(ROOT, document), 'utf8');
      const named = Array.from(text.matchAll(/`(test\/[\w/.-]+)`/g), ([, path]) => path);
      expect(
        named.filter((path) => !existsSync(join(ROOT, path))),
        document,
      ).to.deep.equal([]);
      expect(named).to.have.length.above(5);
    }
  });

  it('read the key of the demo beside its keys file, in README.md', () => {
    const [, keysFile] = /KEYS_FILE=(\S+)/.exec(readFileSync(join(ROOT, 'docs/reference.md'), 'utf8')) ?? [];
    expect(keysFile).to.be.a('string');
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).to.include(`cat ${keysFile}.demo-credential`);
  });

  it('list every refusal reason with its advice, in docs/operations.md', () => {
    const operations = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
    const section = operations.slice(
      operations.indexOf('## Why a snapshot is refused'),
      operations.indexOf('## Monitoring'),
    );
    expect(codeRows(section).map(([reason, advice]) => [reason.slice(1, -1), advice])).to.deep.equal(
      Object.entries(REFUSALS),
    );
  });

  it('say of every refusal that may pass, and of no other, that the file is tried again', () => {
    const retried = Object.entries(REFUSALS).filter(([, advice]) => advice.endsWith('It is tried again.'));
    expect(retried.map(([reason]) => reason)).to.deep.equal(TRANSIENT_REASONS);
  });

  it('plan the memory by the constants of the admission', () => {
    const operations = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8').replaceAll(/\s+/g, ' ');
    const megabytes = (bytes: number) => `${bytes / MEGABYTE} MB`;
    const nothing = { held: 0, peak: 0 };
    const base = plannedMemory(nothing);
    expect(bytesInUse(0, 1)).to.equal(base);
    const thread = bytesInUse(0, 2) - base;
    expect(operations)
      .to.include(`one thread that answers requests | ${megabytes(base)} |`)
      .and.include(`| each further thread | ${megabytes(thread)} |`)
      .and.include(`its data again, and ${megabytes(memoryNeed([]).peak).replace(' MB', '')} to 128 MB`)
      .and.include(
        `\`${megabytes(base)} + ${megabytes(thread)} × further threads + 2 × data of all files + load of the largest file\``,
      );
    // A gigabyte of files, of which the data takes 1.2.
    const gigabytes = (largest: number) =>
      Math.ceil(plannedMemory({ held: 1.2e9, peak: largest + 128 * MEGABYTE }) / 1e9);
    expect(operations).to.include(
      `plan ${gigabytes(1.2e9)} GB for one file of 1 GB, and ${gigabytes(0.12e9)} GB for ten files of 100 MB`,
    );
  });

  it('and the documents of the snapshot format name its version', () => {
    const schema = readFileSync(join(ROOT, 'data/schema.sql'), 'utf8');
    expect(schema).to.include(`user_version ${FORMAT_VERSION},`);
    const format = readFileSync(join(ROOT, 'docs/snapshot-format.md'), 'utf8');
    expect(format).to.include(`version ${FORMAT_VERSION} of the snapshot format`);
    expect(format).to.match(new RegExp(`^\\| \`user_version\` +\\| \`${FORMAT_VERSION}\``, 'm'));
  });

  it('and the snapshot format describes every column of the layouts', () => {
    const format = readFileSync(join(ROOT, 'docs/snapshot-format.md'), 'utf8');
    const section = format.slice(format.indexOf('### Index columns'), format.indexOf('## Views'));
    const described = new Set(
      Array.from(section.matchAll(/`(?:\w+\.)?(\w+)`(?=[^|]*\|[^|]*\|$)/gm), ([, name]) => name),
    );
    const declared = COLLECTIONS.flatMap(({ columns }) => columns.map(({ column }) => column));
    expect([...described]).to.include.members(declared);
  });

  for (const document of DOCUMENTS) {
    it(`link to existing files and headings: ${document}`, () => {
      const text = readFileSync(join(ROOT, document), 'utf8');
      const links = Array.from(text.matchAll(/\]\(([^):]+)\)/g), ([, link]) => link);
      const broken = links.filter((link) => {
        const [target, ...anchors] = link.split('#');
        const file = target === '' ? join(ROOT, document) : join(ROOT, dirname(document), target);
        return !existsSync(file) || anchors.some((anchor) => !anchorsOf(file).includes(anchor));
      });
      expect(broken).to.deep.equal([]);
    });
  }
});

/** Returns the anchors of the headings in a document, as GitHub derives them. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm);
  return Array.from(headings, ([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}
