import type { Json } from '../../contract/field.ts';
import { type JsonObject, textIn } from '../format/json-values.ts';
import { byCollection, type CollectionLayout, COLLECTIONS } from '../format/layout.ts';
import { HashSet } from './hash-set.ts';
import { type Check, type Findings, FINDING_LENGTH, RecordReview } from './record-review.ts';

/** Records or lines that are valid but look wrong for the same reason. */
export interface Warning {
  /** Collection, or import file. */
  readonly source: string;
  /** Field and problem: `orderId names no order`. */
  readonly problem: string;
  /** Number of records or lines. */
  readonly count: number;
  /** The first of them. */
  readonly first: string;
}

/** Formats a warning, such as `tickets: orderId names no order: 120 records, first: tkt_5 ("ord_9") of north`. */
export function describeWarning({ source, problem, count, first }: Warning): string {
  return `${source}: ${problem}: ${count} ${count === 1 ? 'record' : 'records'}, first: ${first}`;
}

/** The findings of a check so far. */
interface CheckState extends Check {
  /** Records that break the rule. */
  count: number;
  first?: Place;
  last?: Place;
  /** The hashes of a field with distinct values. */
  readonly seen: HashSet;
  /** References to records that were not seen yet: organization, record, high and low of each. */
  readonly open: number[];
}

interface Place {
  readonly organization: number;
  readonly record: number;
}

/** Returns the record at a place. */
export type RecordAt = (layout: CollectionLayout, organization: number, position: number) => JsonObject;

/**
 * Collects the findings of all records, and derives warnings from them. If records follow those that they refer to, the
 * memory is some 30 bytes for each order and QR code. Any order yields the same warnings.
 */
export class Review {
  readonly #ids = { ...byCollection(() => new HashSet()), pricings: new HashSet() };
  readonly #reviews = byCollection((layout) => new RecordReview(layout));
  readonly #states = byCollection(({ name }) =>
    this.#reviews[name].checks.map((check): CheckState => {
      return { ...check, count: 0, seen: new HashSet(), open: [] };
    }),
  );

  /** Adds the findings of records. */
  add({ name }: CollectionLayout, findings: ArrayLike<number>): void {
    for (let i = 0; i < findings.length; i += FINDING_LENGTH) {
      const state = this.#states[name][findings[i]];
      const place = { organization: findings[i + 1], record: findings[i + 2] };
      const [high, low] = [findings[i + 3], findings[i + 4]];
      if (state.rule.kind === 'id') this.#ids[state.rule.referent].add(high, low);
      else if (state.rule.kind === 'unique') {
        if (!state.seen.add(high, low)) countRecord(state, place);
      } else if (state.rule.kind !== 'names') countRecord(state, place);
      else if (this.#isMissing(state.rule, high, low)) {
        state.open.push(place.organization, place.record, high, low);
      }
    }
  }

  /**
   * Returns the warnings. Call once, after all records.
   * @param organizationIds in the order of the findings
   */
  finish(organizationIds: readonly string[], recordAt: RecordAt): Warning[] {
    return COLLECTIONS.flatMap((layout) =>
      this.#states[layout.name].flatMap((state, check): Warning[] => {
        const { rule, field, open } = state;
        for (let i = 0; i < open.length; i += 4) {
          const place = { organization: open[i], record: open[i + 1] };
          if (this.#isMissing(rule, open[i + 2], open[i + 3])) countRecord(state, place);
        }
        const { first, count } = state;
        if (first === undefined) return [];
        const record = recordAt(layout, first.organization, first.record);
        const id = textIn(record[layout.resource.id]);
        const value = JSON.stringify(this.#suspectIn(layout, check, first.organization, record));
        return [
          {
            source: layout.name,
            problem: `${field} ${problemOf(rule)}`,
            count,
            first: `${id} (${value}) of ${organizationIds[first.organization]}`,
          },
        ];
      }),
    );
  }

  #isMissing(rule: Check['rule'], high: number, low: number): boolean {
    return rule.kind === 'names' && !this.#ids[rule.referent].has(high, low);
  }

  /** Returns the first value of a record that breaks the rule of a check. */
  #suspectIn({ name }: CollectionLayout, check: number, organization: number, record: JsonObject): Json {
    const review = this.#reviews[name];
    const { rule } = review.checks[check];
    let suspect: Json = null;
    review.visit(record, (visited, value) => {
      if (visited !== check || suspect !== null) return;
      const found: Findings = [];
      review.find(check, organization, 0, value, found);
      if (found.length > 0 && (rule.kind !== 'names' || this.#isMissing(rule, found[3], found[4]))) {
        suspect = value;
      }
    });
    return suspect;
  }
}

/** Counts a record once for each check. Its findings follow each other. */
function countRecord(state: CheckState, place: Place): void {
  const { last } = state;
  if (last?.organization === place.organization && last.record === place.record) return;
  state.count++;
  state.first ??= place;
  state.last = place;
}

function problemOf(rule: Check['rule']): string {
  switch (rule.kind) {
    case 'names':
      return `names no ${rule.referent === 'pricings' ? 'pricing of the offer' : rule.referent.slice(0, -1)}`;
    case 'currencyCode':
      return 'is no currency code of ISO 4217';
    case 'notNegative':
      return 'is negative';
    case 'noComma':
      return 'has a comma, so that no filter finds it';
    case 'unique':
      return 'is that of an earlier record';
    case 'id':
      throw new TypeError('an id breaks no rule');
  }
}
