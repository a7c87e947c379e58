import { expect } from 'chai';
import type { Fields } from '../../src/contract/field.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { RESOURCES } from '../../src/contract/resources.ts';
import type { KeyRing } from '../../src/keys/key-ring.ts';
import type { ApiResponse, RequestOptions, TestApi } from '../support/test-api.ts';
import { AMBER, BIRCH, decoyOf, type Plant, plantablePaths, plantedPaths } from './planted.ts';
import { brokenTargets, SHARED, targetsFor, type Words } from './targets.ts';
import { authorization, type KeyFor, makeKeys, plantedSnapshot, startApi } from './two-organizations.ts';

const REQUEST = {
  'Service-API-Version': 'preview',
  'X-Request-Id': 'isolation',
  // The length of a compressed response depends on the words in it.
  'Accept-Encoding': 'identity',
};

describe('Two organizations with records for the same ids', () => {
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
  const send = (plant: Plant, target: string, { headers = {}, ...options }: RequestOptions = {}) =>
    api.send(target, {
      as: undefined,
      headers: { ...REQUEST, Authorization: authorization(keyOf(plant)), ...headers },
      ...options,
    });

  for (const [caller, other] of [
    [AMBER, BIRCH],
    [BIRCH, AMBER],
  ] as const) {
    const decoy = decoyOf(other);
    const isOwn = (item: unknown) => contains(JSON.stringify(item), caller);
    const expectNothingOfOther = (response: ApiResponse, target: string) => {
      const shown = contains(everything(response), other);
      expect(shown, `in a response to ${caller.word}: ${target}`).to.equal(false);
    };
    /** Requests values of the other organization and of none, expects equal responses, and returns the response. */
    const expectAsNowhere = async (target: string, method: RequestOptions['method'] = 'get') => {
      const response = await send(caller, target, { method });
      const nowhere = await send(caller, disguised(target, other, decoy), { method });
      expect(disguised(comparable(response), other, decoy), target).to.equal(comparable(nowhere));
      expectNothingOfOther(nowhere, target);
      return response;
    };

    describe(`when ${caller.word} sends requests`, () => {
      it('find their own plant in every field that can hold one', async () => {
        for (const { collection, path } of OPERATIONS.filter((operation) => operation.kind === 'list')) {
          const target = path.replace(/\{\w+\}/, `${caller.word}_event`);
          const { body } = await send(caller, `${target}?perPage=100`);
          const shown = new Set(plantedPaths(caller, body.items));
          const declared = Object.values<Fields>(RESOURCES[collection].variants).flatMap((fields) =>
            plantablePaths(fields),
          );
          expect([...shown]).to.include.members(declared);
        }
      });

      it('get their own records by every operation and filter', async () => {
        for (const target of targetsFor([SHARED])) {
          const response = await send(caller, target);
          expect(response.status, target).to.equal(200);
          const items = 'items' in response.body ? response.body.items : [response.body];
          expect(items, target).not.to.have.length(0);
          expect(items.every(isOwn), target).to.equal(true);
          expectNothingOfOther(response, target);
        }
      });

      it('get nothing of the other by any request for their own records', async () => {
        let found = 0;
        for (const target of targetsFor([caller])) {
          const response = await send(caller, target);
          expectNothingOfOther(response, target);
          if (response.status === 200 && isOwn(response.body)) found++;
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

      it('get nothing of the other by the stream of changes, also with its token', async () => {
        const streamOf = async (plant: Plant, query = '') =>
          (await send(plant, `/v1/changes${query}`)).text.trimEnd().split('\n');
        const [, token = ''] = /"next":"([\w-]+)"/.exec((await streamOf(other)).at(-1) ?? '') ?? [];
        const lines = await streamOf(caller);
        expect(lines.length).to.be.greaterThan(10);
        expect(contains(lines.join(), other)).to.equal(false);
        expect(await streamOf(caller, `?since=${token}`)).to.deep.equal(lines);
      });

      it('get equal responses to invalid requests', async () => {
        for (const target of brokenTargets(other)) await expectAsNowhere(target);
      });

      it('get nothing by HEAD, OPTIONS and unsupported methods', async () => {
        const targets = [...targetsFor([other]).filter((_, i) => i % 20 === 0), ...brokenTargets(other)];
        for (const target of targets) {
          for (const method of ['head', 'options', 'post'] as const) await expectAsNowhere(target, method);
        }
      });

      it('are refused as the other with their own key', async () => {
        const { secret } = keyOf(caller);
        const target = '/v1/events';
        const [foreign, nowhere] = await Promise.all(
          [other.organizationId, 'org-absent'].map((organizationId) =>
            send(caller, target, { headers: { Authorization: authorization({ organizationId, secret }) } }),
          ),
        );
        expect(foreign.status).to.equal(403);
        expect(comparable(foreign)).to.equal(comparable(nowhere));
      });
    });
  }
});

/** Headers that differ between responses, or that name the page or the snapshot as a whole. */
const VOLATILE = ['date', 'etag', 'service-snapshot-id'];

/** Returns everything that a response shows. */
function everything({ status, headers, text }: ApiResponse): string {
  return JSON.stringify([status, headers, text]);
}

/** Returns the part of a response that must be equal for equal requests. */
function comparable({ status, headers, text }: ApiResponse): string {
  const stable = Object.entries(headers).filter(([name]) => !VOLATILE.includes(name));
  return JSON.stringify([status, stable, text]);
}

/** Returns whether a text contains any part of a plant, in any case. */
function contains(text: string, { word, digits, timeZone }: Plant): boolean {
  const lowerCase = text.toLowerCase();
  return [word, digits, timeZone].some((sign) => lowerCase.includes(sign.toLowerCase()));
}

/** Replaces a plant's words in a text by those of a decoy. */
function disguised(text: string, plant: Plant, decoy: Words): string {
  return text.replaceAll(plant.word, decoy.word).replaceAll(plant.digits, decoy.digits);
}
