import type { Random } from '../../../scripts/sample/random.ts';
import type { Fields, Json, Shape } from '../../../src/contract/field.ts';
import { randomInstant, rewritten, writeServed } from './instants.ts';
import { randomText } from './texts.ts';

const NUMBERS = [0, 1, -1, 0.1, 12.345, 45, 1e21, 5e-7, 123456789012345680000];
const INTEGERS = [0, 1, 2, 90, -7, Number.MAX_SAFE_INTEGER];
const TIME_ZONES = ['Europe/Paris', 'America/St_Johns', 'Pacific/Auckland'];
const ABSENT = 0.25;

/** Returns a record of the declared fields as it must be served, without derived fields: optional ones may be null or empty. */
export function randomRecord(random: Random, fields: Fields): Record<string, Json> {
  const record: Record<string, Json> = {};
  for (const [name, { shape, required, derived }] of Object.entries(fields)) {
    if (derived) continue;
    const isAbsent = !required && random.chance(ABSENT);
    record[name] = isAbsent ? (shape.kind === 'list' ? [] : null) : randomValue(random, shape);
  }
  return record;
}

function randomValue(random: Random, shape: Shape): Json {
  switch (shape.kind) {
    case 'text':
      return randomText(random) || (shape.nonEmpty ? 'x' : '');
    case 'choice':
      return random.pick(shape.values);
    case 'timestamp':
      return writeServed(random, randomInstant(random));
    case 'timeZone':
      return random.pick(TIME_ZONES);
    case 'number':
      return random.pick(NUMBERS);
    case 'integer':
      return random.pick(INTEGERS);
    case 'boolean':
      return random.chance(0.5);
    case 'list':
      return Array.from({ length: random.below(3) }, () => randomValue(random, shape.items));
    case 'object':
      return randomRecord(random, shape.fields);
    case 'anyObject':
      return { name: randomText(random), '"': [null, { '\0': 1.5 }], '': {} };
  }
}

/**
 * Returns a record as an import may have it: its fields in any order, its times in any form, and without some of those that
 * are null or empty, since absent means the same.
 */
export function asImported(random: Random, value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => asImported(random, item));
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value)
    .filter(([, field]) => !(isNothing(field) && random.chance(0.5)))
    .map(([name, field]): [string, Json] => {
      const isTime = name.endsWith('At') && typeof field === 'string';
      return [name, isTime ? rewritten(random, field) : asImported(random, field)];
    });
  return Object.fromEntries(random.chance(0.5) ? fields : fields.reverse());
}

function isNothing(value: Json): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}
