import type { Random } from '../../scripts/sample/random.ts';
import type { ListContent } from './alter-records.ts';

/** Random changes to the content of a list that a hostile writer could make. Digests are not its concern. */

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
  ...[null, true, -0.5, 1e300, '', 'TICKET', 'PRODUCT', 'ses_1', [], {}, [[]], [null]],
  [{ pricingId: 'p', resaleEnabled: true }],
  { pricingId: 'p', sessionId: 'ses_1', resaleEnabled: true, type: 'TICKET' },
  ...DELIMITERS,
];

/** Changes one to three records or values of a list. */
export function alterAtRandom(random: Random): (content: ListContent) => void {
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

/** Changes a record at a value, a name or any other place, beyond its id in most cases. */
function changedRecord(random: Random, text: string): string {
  const at = random.chance(0.1) ? random.below(text.length) : random.between(25, text.length - 1);
  const [head, tail] = [text.slice(0, at), text.slice(at)];
  switch (random.below(5)) {
    case 0:
      return head + random.pick(['}', random.pick(DELIMITERS) + tail]);
    case 1:
      return `${text.slice(0, -1)}${random.pick(DELIMITERS)}}`;
    case 2:
      return head + tail.slice(random.between(1, 9));
    case 3:
      return (
        head +
        tail.replace(/,"(\w+)":/, random.pick([' ,"$1":', ',"$1":1,"$1":', ',"\\u0024$1":', ',"type":']))
      );
    default:
      return head + tail.replace(/:("[^"]*"|[\w.]+)/, () => `:${JSON.stringify(random.pick(VALUES))}`);
  }
}
