import { expect } from 'chai';
import { KeySlots, lastUseOf, MAX_SLOTS, newLastUses, noteUse } from '../../src/keys/key-ring.ts';

describe('KeySlots', () => {
  it('assigns a slot to each key, and starts again when there are more keys than slots', () => {
    const slots = new KeySlots();
    expect(['a', 'b', 'a', 'c'].map((key) => slots.of(key))).to.deep.equal([0, 1, 0, 2]);
    const others = Array.from({ length: MAX_SLOTS - 3 }, (_, i) => slots.of(`key ${i}`));
    expect(others.findIndex((slot, i) => slot !== i + 3)).to.equal(-1);
    expect(slots.of('one more')).to.equal(0);
    expect(slots.of('a')).to.equal(0);
  });
});

describe('The last use of a key', () => {
  const at = (time: string) => Date.parse(`2026-11-21T${time}Z`);

  it('is undefined before the first use', () => {
    expect(lastUseOf(newLastUses(), 0)).to.equal(undefined);
  });

  it('is the start of the hour of the latest use, for each key', () => {
    const uses = newLastUses();
    noteUse(uses, 3, at('08:00:00.000'));
    expect(lastUseOf(uses, 3)).to.equal('2026-11-21T08:00:00.000Z');
    noteUse(uses, 3, at('08:59:59.999'));
    expect(lastUseOf(uses, 3)).to.equal('2026-11-21T08:00:00.000Z');
    noteUse(uses, 3, at('23:30:00.000'));
    expect(lastUseOf(uses, 3)).to.equal('2026-11-21T23:00:00.000Z');
    expect(lastUseOf(uses, 2)).to.equal(undefined);
    expect(lastUseOf(uses, 4)).to.equal(undefined);
  });

  it('follows a clock that is set back', () => {
    const uses = newLastUses();
    noteUse(uses, MAX_SLOTS - 1, at('12:00:00'));
    noteUse(uses, MAX_SLOTS - 1, at('09:15:00'));
    expect(lastUseOf(uses, MAX_SLOTS - 1)).to.equal('2026-11-21T09:00:00.000Z');
  });
});
