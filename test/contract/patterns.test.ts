import { expect } from 'chai';
import { Linter } from 'eslint';
import regexp from 'eslint-plugin-regexp';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { RELEASES } from '../../src/contract/releases.ts';

const rules = ['no-super-linear-backtracking', 'no-super-linear-move'].map(
  (rule): [string, Linter.RuleEntry] => [`regexp/${rule}`, ['error', { report: 'potential' }]],
);

/** Returns the parts of a pattern that need more than linear time for some text. */
function slowParts(pattern: string): string[] {
  const code = `new RegExp(${JSON.stringify(pattern)}, 'u');`;
  return new Linter()
    .verify(code, [{ plugins: { regexp }, rules: Object.fromEntries(rules) }])
    .map(({ message }) => message);
}

/** Returns the values of `pattern` anywhere in a JSON document. */
function patternsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]: [string, unknown]) =>
    name === 'pattern' && typeof field === 'string' ? [field] : patternsIn(field),
  );
}

describe('The patterns of the OpenAPI document', () => {
  const patterns = [...new Set(patternsIn(openApiDocument(RELEASES)))];

  it('need linear time for any text', () => {
    expect(patterns).to.have.length.above(5);
    for (const pattern of patterns) expect(slowParts(pattern), pattern).to.deep.equal([]);
  });

  it('are checked: a slow pattern is found', () => {
    expect(slowParts('^(a+)+$')).to.have.length(1);
    expect(slowParts('a+$')).to.have.length(1);
  });
});
