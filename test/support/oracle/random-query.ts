import type { Random } from '../../../scripts/sample/random.ts';
import type { ListOperation, ListParameter, Parameter } from '../../../src/contract/operations.ts';
import { isList, splitList } from '../../../src/contract/parameter.ts';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { objectsIn, textIn } from '../../../src/snapshot/format/json-values.ts';
import { byCollection } from '../../../src/snapshot/format/layout.ts';
import { floorDivide, randomInstant, writeAnyhow } from './instants.ts';
import { readValues } from './read-values.ts';
import type { Entry, Organization } from './random-organization.ts';
import { randomEmail, randomTag, randomText } from './texts.ts';

/** A valid query. */
export interface RandomQuery {
  /** One text of each parameter. */
  readonly values: ReadonlyMap<string, string>;
  /** The same as a request may have it: some lists in parts, in the order of the names in `values`. */
  readonly parts: readonly (readonly [name: string, text: string])[];
  /** The event of a list of sessions. */
  readonly parentId: string | undefined;
}

export class QueryMaker {
  readonly #random: Random;
  readonly #organizations: readonly Organization[];

  /** Organizations that the values are drawn from, whichever is queried. */
  constructor(random: Random, organizations: readonly Organization[]) {
    this.#random = random;
    this.#organizations = organizations;
  }

  /** Returns a query with sometimes few of the parameters, sometimes all. */
  query(operation: ListOperation, organization: Organization): RandomQuery {
    const { parameters, pathParameter } = operation;
    const random = this.#random;
    const density = random.fraction();
    const entry = this.#entryOf(organization, operation);
    const values = new Map<string, string>();
    const parts: [name: string, text: string][] = [];
    for (const parameter of parameters) {
      if (!random.chance(density)) continue;
      const text = this.#valueOf(parameter, () => this.#keyOf(operation, parameter, entry));
      // Validation refuses an invalid value before the plan.
      if (readValues(operation, [[parameter.name, text]]) === undefined) continue;
      values.set(parameter.name, text);
      parts.push(...this.#partsOf(parameter, text).map((part): [string, string] => [parameter.name, part]));
    }
    return { values, parts, parentId: pathParameter && this.#parentId(organization) };
  }

  /** In milliseconds; usually near the start of a session. */
  now(organization: Organization): number {
    const random = this.#random;
    if (organization.sessions.length === 0 || random.chance(0.05)) {
      return random.pick([0, -1, Date.parse('2026-11-21T12:00:00Z'), -8.64e15, 8.64e15]);
    }
    const starts = parseTimestamp(random.pick(organization.sessions).record.startAt) ?? 0n;
    return Number(floorDivide(starts, 1000n)) + random.between(-1, 1);
  }

  #parentId(organization: Organization): string {
    const random = this.#random;
    const { events } = random.chance(0.9) ? organization : random.pick(this.#organizations);
    return events.length === 0 || random.chance(0.03) ? randomText(random) : random.pick(events).record.id;
  }

  #valueOf({ kind, role }: ListParameter, keyOf: () => string): string {
    const random = this.#random;
    switch (role.is) {
      case 'page':
        return random.chance(0.02)
          ? random.pick(['9'.repeat(400), '9007199254740993', '007'])
          : String(random.pick([1, 1, 2, 3, random.between(1, 40), random.between(1, 1000)]));
      case 'perPage':
        return String(random.pick([1, 2, 3, 7, 25, 100, random.between(1, 100)]));
      case 'contentDigest':
        // Valid in links only.
        return '';
      case 'bound':
        return writeAnyhow(random, randomInstant(random) + BigInt(random.between(-1, 1)));
      case 'inventoryOf':
        return keyOf();
      case 'pricingOf':
        return random.pick(['true', 'false']);
      case 'anyOf':
        return Array.from({ length: isList(kind) ? random.pick([1, 1, 1, 2, 3, 10]) : 1 }, keyOf).join();
    }
  }

  /** Cuts half of the lists between some elements. */
  #partsOf({ kind }: Parameter, text: string): string[] {
    const random = this.#random;
    if (!isList(kind) || random.chance(0.5)) return [text];
    const [first, ...others] = splitList(text);
    const parts = [first];
    for (const element of others) {
      if (random.chance(0.5)) parts.push(element);
      else parts.push(`${parts.pop() ?? ''},${element}`);
    }
    return parts;
  }

  #entryOf(organization: Organization, { collection }: ListOperation): Entry | undefined {
    const entries: readonly Entry[] = organization[collection];
    return entries.length === 0 ? undefined : this.#random.pick(entries);
  }

  /** Returns usually a key of `entry` for all parameters, so that their combination has a match. */
  #keyOf(operation: ListOperation, parameter: ListParameter, entry: Entry | undefined): string {
    const random = this.#random;
    if (random.chance(0.03)) return randomText(random) || '-';
    const from = random.chance(0.65) ? entry : this.#entryOf(random.pick(this.#organizations), operation);
    const keys = from === undefined ? [] : keysOf(operation, parameter, from);
    const key = keys.length === 0 ? '-' : random.pick(keys);
    if (parameter.name === 'tags') return random.pick([key, key.toUpperCase(), randomTag(random)]);
    if (parameter.name === 'email') return random.pick([key, key.toUpperCase(), randomEmail(random)]);
    return key;
  }
}

const LAYOUTS = byCollection((layout) => layout);

/** Returns the keys of a record that a parameter matches. */
function keysOf({ collection }: ListOperation, { role }: ListParameter, entry: Entry): readonly string[] {
  const { record: served, imported } = entry;
  if (role.is === 'inventoryOf')
    return objectsIn(served['inventory']).map(({ sessionId }) => textIn(sessionId));
  const column = LAYOUTS[collection].columns.find(({ index }) => 'index' in role && role.index === index);
  return column === undefined || column.holds === 'instant' ? [] : [column.of({ served, imported })].flat();
}
