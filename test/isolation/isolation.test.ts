import { expect } from 'chai';
import type { Fields } from '../../src/contract/field.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import type { KeyRing } from '../../src/keys/key-ring.ts';
import type { Answer, TestApi } from '../support/test-api.ts';
import { AMBER, BIRCH, decoyOf, type Plant, plantablePaths, plantedPaths } from './planted.ts';
import { brokenTargets, SHARED, targetsFor, type Words } from './targets.ts';
import { authorization, type KeyFor, makeKeys, plantedSnapshot, startApi } from './two-organizations.ts';

const REQUEST = { 'Service-API-Version': 'preview', 'X-Request-Id': 'isolation' };

describe('Two organizations with records for the same ids', function () {
  this.timeout(60_000);
  let ring: KeyRing;
  let keys: ReadonlyMap<Plant, KeyFor>;
  let api: TestApi;
  let stop: () => Promise<void> = () => Promise.resolve();

  before(async () => {
    ({ ring, keys } = await makeKeys([AMBER, BIRCH]));
    api = await startApi(await plantedSnapshot([AMBER, BIRCH]), ring);
    stop = () => api.stop();
  });
  after(() => stop());

  const keyOf = (plant: Plant): KeyFor => {
    const key = keys.get(plant);
    if (key === undefined) throw new Error(`no key for ${plant.word}`);
    return key;
  };
  const ask = (plant: Plant, target: string, headers: Readonly<Record<string, string>> = {}, at = api) =>
    at.ask(target, {
      as: undefined,
      headers: { ...REQUEST, Authorization: authorization(keyOf(plant)), ...headers },
    });

  for (const [asker, other] of [
    [AMBER, BIRCH],
    [BIRCH, AMBER],
  ] as const) {
    const decoy = decoyOf(other);
    const isOwn = (item: unknown) => tells(JSON.stringify(item), asker);
    /** Requests values of the other organization and of none, expects equal responses, and returns the response. */
    const expectAsNowhere = async (target: string) => {
      const answer = await ask(asker, target);
      const nowhere = await ask(asker, disguised(target, other, decoy));
      expect(disguised(told(answer), other, decoy), target).to.equal(told(nowhere));
      expect(tells(everything(nowhere), other), `told to ${asker.word}: ${target}`).to.equal(false);
      return answer;
    };

    describe(`when ${asker.word} sends requests`, () => {
      it('find their own plant in every field that can hold one', async () => {
        for (const { kind, resource, path } of OPERATIONS) {
          if (kind !== 'list') continue;
          const target = path.replace(/\{\w+\}/, `${asker.word}_event`);
          const { body } = await ask(asker, `${target}?perPage=100`);
          const shown = new Set(plantedPaths(asker, body.items));
          const declared = Object.values<Fields>(resource.variants).flatMap((fields) =>
            plantablePaths(fields),
          );
          expect([...shown]).to.include.members(declared);
        }
      });

      it('get their own records by every operation and filter', async () => {
        for (const target of targetsFor([SHARED])) {
          const answer = await ask(asker, target);
          expect(answer.status, target).to.equal(200);
          const items = 'items' in answer.body ? answer.body.items : [answer.body];
          expect(items, target).not.to.have.length(0);
          expect(items.every(isOwn), target).to.equal(true);
          expect(tells(everything(answer), other), `told to ${asker.word}: ${target}`).to.equal(false);
        }
      });

      it('get nothing of the other by any request for their own records', async () => {
        let found = 0;
        for (const target of targetsFor([asker])) {
          const answer = await ask(asker, target);
          expect(tells(everything(answer), other), `told to ${asker.word}: ${target}`).to.equal(false);
          if (answer.status === 200 && isOwn(answer.body)) found++;
        }
        expect(found).to.be.greaterThan(200);
      });

      it('get equal responses for values of the other and of none', async () => {
        for (const target of targetsFor([other])) {
          const { status, body } = await expectAsNowhere(target);
          const items = status === 200 && 'items' in body ? body.items : [];
          expect(items.every(isOwn), target).to.equal(true);
        }
      });

      it('get equal responses where these values are listed with their own', async () => {
        let found = 0;
        for (const target of targetsFor([SHARED, other])) {
          const { status } = await expectAsNowhere(target);
          if (status === 200) found++;
        }
        expect(found).to.be.greaterThan(200);
      });

      it('get equal responses to invalid requests', async () => {
        for (const target of brokenTargets(other)) await expectAsNowhere(target);
      });

      it('get 404 with the same bytes for ids of the other and unknown ids', async () => {
        for (const { kind, path, collection } of OPERATIONS) {
          if (kind === 'list' && collection !== 'sessions') continue;
          const bytes = new Set<string>();
          const names = ['event', 'ticket', 'order', 'offer_TICKET', 'offer_PRODUCT', 'offer_BUNDLE'];
          const foreign = names.map((name) => `${other.word}_${name}`);
          for (const id of [...foreign, `${decoy.word}_ticket`, 'x', 'é%2F%22']) {
            const answer = await ask(asker, path.replace(/\{\w+\}/, id));
            expect(answer.status, id).to.equal(404);
            bytes.add(told(answer));
          }
          expect([...bytes]).to.have.length(1);
        }
      });

      it('get no match for the entity tag of the other', async () => {
        for (const target of targetsFor([SHARED]).filter((_, i) => i % 10 === 0)) {
          const tag = (await ask(other, target)).headers['etag'];
          const answer = await ask(asker, target, { 'If-None-Match': tag });
          expect(answer.status, target).to.equal(200);
          expect(answer.headers['etag']).not.to.equal(tag);
        }
      });

      it('get nothing by HEAD, OPTIONS and unsupported methods', async () => {
        const targets = [...targetsFor([other]).filter((_, i) => i % 20 === 0), ...brokenTargets(other)];
        for (const target of targets) {
          for (const method of ['head', 'options', 'post'] as const) {
            const headers = { ...REQUEST, Authorization: authorization(keyOf(asker)) };
            const answer = await api.ask(target, { method, as: undefined, headers });
            const nowhere = await api.ask(disguised(target, other, decoy), {
              method,
              as: undefined,
              headers,
            });
            expect(disguised(told(answer), other, decoy), target).to.equal(told(nowhere));
          }
        }
      });

      it('are refused as the other with their own key', async () => {
        const { secret } = keyOf(asker);
        const asked = { target: '/v1/events', organizations: [other.organizationId, 'org-nobody'] };
        const [foreign, nowhere] = await Promise.all(
          asked.organizations.map((organizationId) =>
            ask(asker, asked.target, { Authorization: authorization({ organizationId, secret }) }),
          ),
        );
        expect(foreign.status).to.equal(403);
        expect(told(foreign)).to.equal(told(nowhere));
      });

      it('get the same responses when the other does not exist', async () => {
        const alone = await startApi(await plantedSnapshot([asker]), ring);
        try {
          const targets = [...targetsFor([SHARED]), ...targetsFor([SHARED, other]), ...brokenTargets(other)];
          for (const target of targets.filter((_, i) => i % 3 === 0)) {
            const beside = await ask(asker, target);
            expect(told(beside), target).to.equal(told(await ask(asker, target, {}, alone)));
            expect(beside.headers['etag']).to.equal((await ask(asker, target, {}, alone)).headers['etag']);
          }
        } finally {
          await alone.stop();
        }
      });
    });
  }
});

/** Headers that differ between responses, or that name the page or the snapshot as a whole. */
const VOLATILE = ['date', 'etag', 'service-snapshot-id'];

/** Returns everything that a response shows. */
function everything({ status, headers, text }: Answer): string {
  return JSON.stringify([status, headers, text]);
}

/** Returns the part of a response that must be equal for equal requests. */
function told({ status, headers, text }: Answer): string {
  const lasting = Object.entries(headers).filter(([name]) => !VOLATILE.includes(name));
  return JSON.stringify([status, lasting, text]);
}

/** Returns whether a text contains any part of a plant, in any case. */
function tells(text: string, { word, digits, timeZone }: Plant): boolean {
  const lowerCase = text.toLowerCase();
  return [word, digits, timeZone].some((sign) => lowerCase.includes(sign.toLowerCase()));
}

/** Replaces a plant's words in a text by those of a decoy. */
function disguised(text: string, plant: Plant, decoy: Words): string {
  return text.replaceAll(plant.word, decoy.word).replaceAll(plant.digits, decoy.digits);
}
