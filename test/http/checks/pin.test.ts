import { expect } from 'chai';
import fc from 'fast-check';
import { Pins } from '../../../src/http/checks/pin.ts';
import { newServedDigests } from '../../../src/store/registry/served-digests.ts';
import { times } from '../../support/records.ts';

const WAIT_MS = 30_000;

/** Returns a key of one organization that has all of them. */
const keyOf = (keyId: string) => ({ organizationId: 'org', keyId, slot: 0 });

describe('The wait of a key for data that may arrive', () => {
  let now = 0;
  const newPins = () => new Pins(newServedDigests(), () => now);

  it('ends a time after its first request, whatever other keys request', () => {
    const request = fc.record({
      keyId: fc.constantFrom('a', 'b', 'noisy'),
      name: fc.constantFrom('1', '2'),
      ms: fc.nat(WAIT_MS),
    });
    fc.assert(
      fc.property(fc.array(request), (history) => {
        const pins = newPins();
        const ends = new Map<string, number>();
        for (const { keyId, name, ms } of history) {
          now += ms;
          if (keyId === 'noisy') times(65, (i) => pins.mayArrive(keyOf(keyId), `${now} ${i}`, WAIT_MS));
          else {
            const end = ends.get(keyId + name) ?? now + WAIT_MS;
            ends.set(keyId + name, end);
            expect(pins.mayArrive(keyOf(keyId), name, WAIT_MS)).to.equal(now < end);
          }
        }
      }),
    );
  });

  for (const [keys, names] of [
    [1, 200],
    [5000, 1],
  ])
    it(`ends for each of ${keys} keys with ${names} names that it requests again and again`, () => {
      const pins = newPins();
      const requests = times(keys * names, (i) => [keyOf(`${i % keys}`), `${i}`] as const);
      const waits = () => requests.map(([key, name]) => pins.mayArrive(key, name, WAIT_MS));
      expect(waits()).to.include(true);
      now += WAIT_MS;
      expect(waits()).not.to.include(true);
      now += WAIT_MS;
      expect(pins.mayArrive(keyOf('0'), 'another name', WAIT_MS), 'the others are past').to.equal(true);
    });
});
