import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import packageJson from '../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENTS = globSync(['*.md', 'docs/**/*.md', 'client/*.md', 'examples/**/*.md'], { cwd: ROOT }).sort();

function textOf(document: string): string {
  return readFileSync(join(ROOT, document), 'utf8');
}

describe('The documents', () => {
  it('name existing npm scripts only', () => {
    const scripts = DOCUMENTS.flatMap((document) =>
      Array.from(
        textOf(document).matchAll(/\bnpm (?:run (?:-s )?([a-z:]+)|(start|test)\b)/g),
        ([, script = '', direct = '']) => script || direct,
      ),
    );
    expect(Object.keys(packageJson.scripts)).to.include.members([...new Set(scripts)]).and.not.empty;
  });

  it('name existing tests only', () => {
    const tests = DOCUMENTS.flatMap((document) =>
      Array.from(textOf(document).matchAll(/`(test\/[\w/.-]+)`/g), ([, path]) => path),
    );
    expect(tests).to.include.members(['test/support/digests.ts']);
    expect(tests.filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([]);
  });

  it('list each dependency, and no other package, in CONTRIBUTING.md', () => {
    const { dependencies, devDependencies } = packageJson;
    const [, section] = textOf('CONTRIBUTING.md').split('## Dependencies');
    const listed = Array.from(section.matchAll(/^\| (?!package)([@\w][^|]*) \|/gm), ([, names]) => names)
      .flatMap((names) => names.replace(' (development)', '').split(', '))
      .sort();
    const needed = Object.keys({ ...dependencies, ...devDependencies })
      .filter((name) => !name.startsWith('@types/') && name !== '@eslint/js')
      .sort();
    expect(listed).to.deep.equal(needed);
  });

  it('read the key of the demo next to its keys file, in README.md', () => {
    const [, keysFile] = /KEYS_FILE=(\S+)/.exec(textOf('docs/reference.md')) ?? [];
    expect(textOf('README.md')).to.include(`cat ${keysFile}.demo-credential`);
  });

  for (const document of DOCUMENTS.filter((name) => name.startsWith('docs/howto/')))
    it(`have at most 250 words: ${document}`, () => {
      expect(textOf(document).trim().split(/\s+/)).to.have.length.at.most(250);
    });

  for (const document of DOCUMENTS) {
    it(`link to existing files and headings: ${document}`, () => {
      const links = Array.from(textOf(document).matchAll(/\]\(([^):]+)\)/g), ([, link]) => link);
      const broken = links.filter((link) => {
        const [target, ...anchors] = link.split('#');
        const file = target === '' ? document : join(dirname(document), target);
        return (
          !existsSync(join(ROOT, file)) || anchors.some((anchor) => !anchorsOf(textOf(file)).includes(anchor))
        );
      });
      expect(broken).to.deep.equal([]);
    });
  }
});

/** Returns the anchors of the headings in a document, as GitHub derives them. */
function anchorsOf(text: string): string[] {
  return Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}
