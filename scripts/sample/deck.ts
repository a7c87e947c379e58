import type { Random } from './random.ts';

/**
 * Cards drawn without replacement, shuffled anew when none is left. Unlike independent draws it deals every
 * card in a small sample too, so that a folder of a hundred tickets shows each kind of order.
 */
export class Deck<T> {
  readonly #random: Random;
  readonly #cards: T[];
  #left = 0;

  /** @param counts each card and how often it is in the deck. */
  constructor(random: Random, counts: readonly (readonly [card: T, count: number])[]) {
    this.#random = random;
    this.#cards = counts.flatMap(([card, count]) => Array.from({ length: count }, () => card));
  }

  draw(): T {
    if (this.#left === 0) this.#left = this.#cards.length;
    const drawn = this.#random.below(this.#left--);
    const card = this.#cards[drawn];
    this.#cards[drawn] = this.#cards[this.#left];
    this.#cards[this.#left] = card;
    return card;
  }
}
