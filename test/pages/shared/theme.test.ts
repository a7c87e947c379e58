import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const PAGES = fileURLToPath(new URL('../../../src/pages/', import.meta.url));
const THEME = 'shared/theme.css';

/** Form of the values that come from the theme, by property. */
const FORMS: readonly (readonly [property: RegExp, form: RegExp])[] = [
  [/^font-size$/, /^(var\(--text-\w+\)|inherit)$/],
  [/^border-radius$/, /^((var\(--radius(-\w+)?\)|inherit|0)(\s|$))+$/],
  [/^(margin|padding|gap|row-gap)/, /^((?!\drem).)*$/],
  [/./, /^((?!#|(rgb|hsl|hwb|lab|lch|oklch|light-dark)a?\().)*$/],
];

/** Returns the declarations of a style sheet that bypass the theme. */
function bypasses(css: string): string[] {
  const declarations = css.replaceAll(/\/\*.*?\*\//gs, '').matchAll(/([\w-]+):\s*([^;{}]+);/g);
  return Array.from(declarations)
    .filter(([, property, value]) => FORMS.some(([of, form]) => of.test(property) && !form.test(value)))
    .map(([text]) => text);
}

describe('The theme of the pages', () => {
  it('gives the style sheets their colors, sizes of type, spacings and radii', () => {
    const paths = globSync('*/*.css', { cwd: PAGES }).filter((path) => path !== THEME);
    const found = paths.map((path) => [path, ...bypasses(readFileSync(join(PAGES, path), 'utf8'))]);
    expect(found.filter(([, ...declarations]) => declarations.length > 0)).to.deep.equal([]);
  });

  it('is bypassed by values of its kinds alone', () => {
    const css = `
      a:hover { color: #fff; width: 4rem; font-size: 0.9rem; margin: 0 auto; }
      #add { border-radius: 0 var(--radius); border: 1px solid light-dark(red, blue); } /* color: #000; */
      p { padding: 1rem; border-radius: 4px; background: color-mix(in oklab, var(--accent) 9%, var(--text)); }`;
    expect(bypasses(css)).to.deep.equal([
      'color: #fff;',
      'font-size: 0.9rem;',
      'border: 1px solid light-dark(red, blue);',
      'padding: 1rem;',
      'border-radius: 4px;',
    ]);
  });
});
