import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { type ListOperation, OPERATIONS } from '../../src/contract/operations.ts';
import { type Plan, planList } from '../../src/query/plan.ts';
import { readLines } from '../../src/query/read-lines.ts';
import { contentTag, readPage, readRecord, selectRecords } from '../../src/query/read-page.ts';
import { listOf, type ListImage } from '../../src/store/organization-image.ts';
import type { OrganizationStore } from '../../src/store/registry/store-view.ts';
import { byDepth } from '../support/depth.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { QueryMaker, type RandomQuery } from '../support/oracle/random-query.ts';
import { listOperation, readValues } from '../support/oracle/read-values.ts';
import type { Organization } from '../support/oracle/random-organization.ts';
import { loadStores, randomOrganizations } from '../support/oracle/random-snapshot.ts';

const QUERIES = byDepth({ short: 300, deep: 3000 });

const CASES = [
  { seed: 20261121, size: 60, queries: QUERIES },
  { seed: 7, size: 60, queries: QUERIES },
  { seed: 4294967295, size: 60, queries: QUERIES },
  // Some keys have so many records that they are found by an instant, and groups of records have the same keys.
  { seed: 404, size: 220, queries: byDepth({ short: 150, deep: 1000 }) },
];

interface Subject {
  readonly organization: Organization;
  readonly store: OrganizationStore;
  readonly oracle: Oracle;
}

const ALL_EVENTS = planList(listOperation('listEvents'), { perPage: 100 });

const textOf = (segments: readonly Buffer[]) => Buffer.concat(segments).toString();
const parsed = (segments: readonly Buffer[]): unknown => JSON.parse(textOf(segments));

for (const { seed, size, queries } of CASES) {
  describe(`Random organizations with ${size} events (seed ${seed})`, () => {
    const random = new Random(seed);
    const organizations = randomOrganizations(random, size);
    const maker = new QueryMaker(random, organizations);
    const subjects: Subject[] = [];

    before(async () => {
      const loaded = await loadStores(random, organizations);
      for (const organization of organizations) {
        const store = loaded.get(organization.organizationId);
        if (store === undefined) throw new Error(`${organization.organizationId} is not in the snapshot`);
        subjects.push({ organization, store, oracle: new Oracle(organization) });
      }
    });

    /** Picks an organization, most often the large one. */
    const pickSubject = () => subjects[Math.min(random.below(6), random.below(4))];

    for (const operation of OPERATIONS.filter((operation) => operation.kind === 'list')) {
      it(`${operation.id} returns the same pages as the oracle for ${queries} queries`, () => {
        let found = 0;
        for (let i = 0; i < queries; i++) {
          const subject = pickSubject();
          const query = maker.query(operation, subject.organization);
          found += expectPage(operation, subject, query, maker.now(subject.organization));
        }
        // Queries without a match prove little.
        expect(found).to.be.greaterThan(queries / 5);
      });
    }

    for (const operation of OPERATIONS.filter((operation) => operation.kind === 'list')) {
      it(`${operation.id} has the records of all pages as lines for ${queries / 3} queries`, () => {
        for (let i = 0; i < queries / 3; i++) {
          const { organization, store } = pickSubject();
          const { parts, parentId } = maker.query(operation, organization);
          const plan = planList(operation, readValues(operation, parts) ?? {});
          expectLines(store.lists[listOf(plan.collection)], plan, parentId, maker.now(organization));
        }
      });
    }

    for (const operation of OPERATIONS.filter((operation) => operation.kind === 'retrieve')) {
      it(`${operation.id} returns the record of every id, and none for other ids`, () => {
        const { collection } = operation;
        const ids = organizations.flatMap((organization) =>
          organization[collection].map(({ record }) => String(Object.values(record)[0])),
        );
        const nearIds = ids.flatMap((id) => [`${id} `, id.slice(1), id.toUpperCase(), id.normalize('NFD')]);
        for (const { store, oracle, organization } of subjects) {
          for (const id of new Set(['', '"', ...ids, ...nearIds])) {
            const now = maker.now(organization);
            const record = readRecord(store.lists[listOf(collection)], collection, id, now);
            const expected = oracle.record(operation.id, id, now);
            if (!isDeepStrictEqual(record && parsed(record), expected)) {
              const about = `${organization.organizationId} at ${now}: ${JSON.stringify(id)}`;
              expect(record && parsed(record), about).to.deep.equal(expected);
            }
          }
        }
      });
    }

    it('has an events tag that changes exactly when the events do', () => {
      for (const { store, organization } of subjects) {
        const eventsByTag = new Map<string, string>();
        for (let i = 0; i < 100; i++) {
          const now = maker.now(organization);
          const pages = [1, 2, 3].map((page) =>
            readPage(store.lists.events, { ...ALL_EVENTS, page }, undefined, now),
          );
          const events = pages.map((page) => textOf([...(page?.segments ?? [])].flat())).join();
          const tag = contentTag(store.lists.events, 'events', now);
          expect(eventsByTag.get(tag) ?? events, `${organization.organizationId} at ${now}`).to.equal(events);
          eventsByTag.set(tag, events);
        }
        expect(new Set(eventsByTag.values())).to.have.property('size', eventsByTag.size);
      }
    });
  });
}

/** Compares a page with the oracle's. Returns 1 if it has records, else 0. */
function expectPage(
  operation: ListOperation,
  { organization, store, oracle }: Subject,
  { values, parts, parentId }: RandomQuery,
  now: number,
): number {
  const plan = planList(operation, readValues(operation, parts) ?? {});
  const page = readPage(store.lists[listOf(plan.collection)], plan, parentId, now);
  const expected = oracle.page(operation.id, values, parentId, now);
  const records = page && parsed([Buffer.from('['), ...[...page.segments].flat(), Buffer.from(']')]);
  const actual = page && { totalRecords: page.totalRecords, records };
  const query = JSON.stringify(parts);
  const about = `${organization.organizationId} at ${now}, ${String(parentId)}: ${query}`;
  if (!isDeepStrictEqual(actual, expected)) expect(actual, about).to.deep.equal(expected);
  return expected !== undefined && expected.records.length > 0 ? 1 : 0;
}

/** Compares the lines of a query with the records of its pages. */
function expectLines(list: ListImage, plan: Plan, parentId: string | undefined, now: number): void {
  const selection = selectRecords(list, plan, parentId);
  const pages: string[] = [];
  for (let page = 1, left = Infinity; left > 0; page++) {
    const found = readPage(list, { ...plan, page, perPage: 100 }, parentId, now);
    if (found === undefined) {
      expect(selection).to.equal(undefined);
      return;
    }
    const text = textOf([...found.segments].flat());
    if (text !== '') pages.push(text);
    left = found.totalRecords - page * 100;
  }
  const records = JSON.parse(`[${pages.join(',')}]`) as unknown[];
  const lines = selection && textOf([...readLines(list, plan, selection, now, () => false)]);
  expect(lines).to.equal(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
}
