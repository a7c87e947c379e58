import { hashText } from './hash-text.ts';

/** What can be remembered. */
export interface Rememberable {
  /** Bytes of memory that it takes, about. */
  readonly size: number;
}

/** Fingerprints of targets that are noted, each at a place of its own: enough that few of those kept share one. */
const NOTED = 2 ** 16;

/**
 * Answers by the store that they came from and the target that was asked for, of which those are kept that were asked
 * for or set lately: at least so many bytes as wanted, and hardly more than twice as many.
 *
 * A target is only noted at first, since most of those that move with the time never come again: to keep their answers
 * would be work for the garbage collector alone. A store that nobody holds any more takes its answers with it: they are
 * of its bytes.
 */
export class RecentAnswers<A extends Rememberable> {
  readonly #wanted: number;
  #recent = new Generation<A>();
  /** Those of before: the ones that nobody asks for until `#recent` is full again are forgotten together. */
  #earlier = new Generation<A>();
  readonly #noted = new Uint32Array(NOTED);

  /** @param wanted bytes */
  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  get(store: object, target: string): A | undefined {
    const recent = this.#recent.get(store, target);
    if (recent !== undefined) return recent;
    const earlier = this.#earlier.get(store, target);
    if (earlier !== undefined) this.#keep(store, target, earlier);
    return earlier;
  }

  /** Keeps an answer, if its target was set before, of whatever store. */
  set(store: object, target: string, answer: A): void {
    const fingerprint = hashText(target);
    const place = fingerprint % NOTED;
    if (this.#noted[place] === fingerprint) this.#keep(store, target, answer);
    else this.#noted[place] = fingerprint;
  }

  #keep(store: object, target: string, answer: A): void {
    if (this.#recent.size >= this.#wanted) {
      this.#earlier = this.#recent;
      this.#recent = new Generation();
    }
    this.#recent.set(store, target, answer);
  }
}

class Generation<A extends Rememberable> {
  readonly #byStore = new WeakMap<object, Map<string, A>>();
  /** Bytes; those of a store that is gone are counted on. */
  size = 0;

  get(store: object, target: string): A | undefined {
    return this.#byStore.get(store)?.get(target);
  }

  set(store: object, target: string, answer: A): void {
    let ofStore = this.#byStore.get(store);
    if (ofStore === undefined) {
      ofStore = new Map();
      this.#byStore.set(store, ofStore);
    }
    this.size += answer.size - (ofStore.get(target)?.size ?? 0);
    ofStore.set(target, answer);
  }
}
