import type { Random } from '../../../scripts/sample/random.ts';

/** Texts that expose code which confuses bytes, code units, characters and JSON. */

const PIECES = [
  ...['a', 'A', 'b', 'ab', '0', '-', '.', '..', '%2F', '+', '?', '#', '&', '=', ';', ':'],
  ...[' ', '  ', '/', ',', '"', "'", '\\', '\\"', '\\u0000', '}', ']', '{"id":"'],
  ...[
    '\0',
    '\u0001',
    '\t',
    '\n',
    '\r\n',
    '\u001f',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\ufffd',
  ],
  ...['é', 'e\u0301', 'É', 'ß', 'İ', 'ı', 'Σ', 'ς', 'ﬁ', '漢', '\ue000', '\uff5e', '\uffff'],
  // Above U+FFFF: before '\ue000' by code unit, after it by UTF-8.
  ...['\u{10000}', '😀', '\u{10ffff}'],
  ...['__proto__', 'constructor', 'toString', 'null', 'true', 'x'.repeat(300)],
];

export function randomText(random: Random): string {
  let text = '';
  for (let pieces = random.between(0, 3); pieces > 0; pieces--) text += random.pick(PIECES);
  return text;
}

/** Distinct texts that a path can name. */
export function randomIds(random: Random, count: number): string[] {
  const ids = new Set<string>();
  while (ids.size < count) {
    const id = randomText(random);
    if (!['', '.', '..'].includes(id)) ids.add(id);
  }
  return [...ids];
}

const TAGS = [
  ...['Théâtre', 'The\u0301a\u0302tre', 'théâtre', 'THÉÂTRE', 'theatre', ' Théâtre\t', 'the\u0301âtre'],
  ...['Hip Hop', 'hip  hop', 'HIP\u00a0\u2003HOP', 'hip\nhop', '\ufeffhip hop', 'hiphop', 'hip\u200bhop'],
  ...['İstanbul', 'i\u0307stanbul', 'istanbul', 'Istanbul', 'ıstanbul', 'I\u0307STANBUL'],
  ...[
    'Straße',
    'STRASSE',
    'STRAẞE',
    'strasse',
    'ΟΔΟΣ',
    'οδος',
    'οδοσ',
    'ΟΔΟΣ ΑΒΓ',
    '\u212bngström',
    'ÅNGSTRÖM',
  ],
  ...['J\u030c', '\u01f0', '\u212a', 'k', 'ﬁ', 'fi', '漢字', '😀', '\u0085x', 'x', 'R&B', 'a\0b', '\ufffd'],
  ...['été, hiver', 'été', ' hiver', ',', '', ' ', '\u00a0\u2003'],
];

export function randomTag(random: Random): string {
  return random.pick(TAGS);
}

const EMAILS = [
  ...['zoe@example.org', 'ZOE@Example.ORG', 'zoé@example.org', 'ZOÉ@example.org', 'zoe\u0301@example.org'],
  ...['a+b@x', 'A+B@X', 'İ@x', 'i\u0307@x', 'i@x', 'straße@x', 'STRASSE@x', 'ΟΔΟΣ@x', 'οδος@x', 'οδοσ@x'],
  ...['a b@x', ' a+b@x', '', '@', 'a,b@x', '"q\\"@x', '\0@x', '😀@x', '\u212b@x', 'å@x'],
];

export function randomEmail(random: Random): string {
  return random.pick(EMAILS);
}
