import { expect } from 'chai';
import fc from 'fast-check';
import { newNetworksMemory, Networks } from '../../src/counts/networks.ts';
import { byDepth } from '../support/depth.ts';
import { ownNetworks } from '../support/test-api.ts';

const SEED = 20_261_123;
const WINDOW_MS = 60_000;
/** Networks that are open in one set of slots at a time. */
const SET_LENGTH = 8;

describe(`The table of networks (seed ${SEED})`, () => {
  it('counts the connections and hits of each network apart, over all workers, for any history', () => {
    const network = fc.nat(40).map((n) => `192.0.2.${n}`);
    const step = fc.record({ worker: fc.nat(1), network, action: fc.constantFrom('open', 'close', 'hit') });
    const property = fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const memory = newNetworksMemory();
      const workers = [ownNetworks(memory), ownNetworks(memory)];
      const open = new Map<string, number[]>();
      const hits = new Map<string, number>();
      for (const { worker, network: of, action } of steps) {
        const slots = [0, 1].flatMap((i) => open.get(`${i} ${of}`) ?? []);
        const own = open.get(`${worker} ${of}`) ?? [];
        if (action === 'open') {
          const { slot = -1, connections } = workers[worker].connect(of) ?? {};
          expect(connections).to.equal(slots.length + 1);
          open.set(`${worker} ${of}`, [...own, slot]);
        } else if (action === 'close') {
          const slot = own.pop();
          if (slot !== undefined) workers[worker].disconnect(slot);
        } else {
          hits.set(of, (hits.get(of) ?? 0) + 1);
          expect(workers[worker].countHit(of, WINDOW_MS, 0)).to.equal(hits.get(of));
        }
      }
    });
    fc.assert(property, { seed: SEED, numRuns: byDepth({ short: 100, deep: 3000 }) });
  });

  it('has a slot for a network of a full set as soon as another has no connections', () => {
    // With a salt for which a set is full.
    const memory = { ...newNetworksMemory(), salt: String(SEED) };
    const networks = ownNetworks(memory);
    const slotOf = (network: string) => {
      const { slot = -1 } = networks.connect(network) ?? {};
      networks.disconnect(slot);
      return slot;
    };
    const setOf = (network: string) => Math.floor(slotOf(network) / SET_LENGTH);
    const same = Array.from({ length: 2 ** 17 }, (_, i) => String(i)).filter(
      (network) => setOf(network) === setOf('0'),
    );
    expect(same.length).to.be.greaterThan(SET_LENGTH);
    const slots = same.slice(0, SET_LENGTH).map((network) => networks.connect(network)?.slot ?? -1);
    expect(new Set(slots)).to.have.property('size', SET_LENGTH);
    expect(networks.connect(same[SET_LENGTH])).to.equal(undefined);
    expect(networks.countHit(same[SET_LENGTH], WINDOW_MS, 0)).to.equal(0);
    expect(networks.countHit(same[3], WINDOW_MS, 0)).to.equal(1);
    networks.suspect(slots[3]);
    networks.disconnect(slots[3]);
    expect(networks.connect(same[SET_LENGTH])).to.deep.equal({ slot: slots[3], connections: 1 });
    expect(networks.isSuspect(slots[3])).to.equal(false);
    expect(networks.countHit(same[SET_LENGTH], WINDOW_MS, 0)).to.equal(1);
  });

  it('is another one in each process', () => {
    const slots = [0, 1, 2].map(() => ownNetworks().connect('192.0.2.1')?.slot);
    expect(new Set(slots)).to.have.property('size', 3);
  });

  it('loses the connections of a worker that ends, and no others', () => {
    const memory = newNetworksMemory();
    const [ended, other] = [ownNetworks(memory), ownNetworks(memory)];
    for (let i = 0; i < 3; i++) ended.connect('192.0.2.1');
    other.connect('192.0.2.1');
    new Networks(memory, ended.part).clear();
    expect(other.connect('192.0.2.1')).to.include({ connections: 2 });
  });
});
