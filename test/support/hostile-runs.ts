import type { Random } from '../../scripts/sample/random.ts';
import type { RunContent } from './alter-runs.ts';

/** Random changes to the content of a run that a hostile writer could make. Digests are not its concern. */

/** Texts that partial views search for, or that could end a list or a response early. */
const DELIMITERS = [
  ',"type":"TICKET"',
  ',"pricing":[',
  '],"optionOffers":',
  ',"inventory":[',
  ']}',
  '{"pricingId":"p"},{"pricingId":"q","resaleEnabled":true}',
  ',"resaleEnabled":true',
  ',"sessionId":"ses_1"',
  '],"page":1,"perPage":1,"totalPages":9,"hasMore":true,"nextPage":"https://evil.example"',
  '\u0000',
  '\ud800',
  '\\',
  '"',
];

const VALUES: readonly unknown[] = [
  null,
  true,
  -0.5,
  1e300,
  '',
  'TICKET',
  'PRODUCT',
  'ses_1',
  [],
  {},
  [[]],
  [null],
  [{ pricingId: 'p', resaleEnabled: true }],
  { pricingId: 'p', sessionId: 'ses_1', resaleEnabled: true, type: 'TICKET' },
  ...DELIMITERS,
];

/** Changes one to three records or elements of a run. */
export function alterAtRandom(random: Random): (run: RunContent) => void {
  return ({ records, columns }) => {
    for (let left = random.between(1, 3); left > 0; left--) {
      const i = random.below(records.length);
      if (random.chance(0.75)) records[i] = changedRecord(random, records[i]);
      else {
        const names = Object.keys(columns);
        columns[random.pick(names)][i] = random.pick([...VALUES, ['true', 'evt_1'], 0, 2 ** 53]);
      }
    }
  };
}

function changedRecord(random: Random, text: string): string {
  if (random.chance(0.35)) return changedText(random, text);
  const record = parsed(text);
  if (record === undefined) return changedText(random, text);
  changeWithin(random, record);
  return JSON.stringify(record);
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Changes the text, beyond its id in most cases. */
function changedText(random: Random, text: string): string {
  const at = random.chance(0.1) ? random.below(text.length) : random.between(25, text.length - 1);
  const [head, tail] = [text.slice(0, at), text.slice(at)];
  switch (random.below(5)) {
    case 0:
      return `${head}}`;
    case 1:
      return head + random.pick(DELIMITERS) + tail;
    case 2:
      return `${text.slice(0, -1)}${random.pick(DELIMITERS)}}`;
    case 3:
      return text.replace(/,"(\w+)":/, random.pick([' ,"$1":', ',"$1":1,"$1":', ',"\\u0024$1":']));
    default:
      return head + tail.slice(random.between(1, 9));
  }
}

/** Changes a field of an object, or of an object or list within it. */
function changeWithin(random: Random, object: Record<string, unknown>): void {
  const [, ...names] = Object.keys(object);
  if (names.length === 0) return;
  const name = random.pick(names);
  const value = object[name];
  if (typeof value === 'object' && value !== null && random.chance(0.5)) {
    changeWithin(random, { '': 0, ...value });
    const nested = Object.values(value).filter((item) => typeof item === 'object' && item !== null);
    if (nested.length > 0) changeWithin(random, random.pick(nested) as Record<string, unknown>);
    return;
  }
  switch (random.below(4)) {
    case 0:
      Reflect.deleteProperty(object, name);
      break;
    case 1:
      Reflect.deleteProperty(object, name);
      object[name] = value;
      break;
    case 2:
      object[random.pick(['type', 'pricing', 'id', 'nextPage', '__proto__x'])] = random.pick(VALUES);
      break;
    default:
      object[name] = random.pick(VALUES);
  }
}
