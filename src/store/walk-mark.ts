/** Whether somebody walks, or walked, over the content of a store: one word of shared memory, which any thread may set. */
export class WalkMark {
  readonly word: Int32Array<SharedArrayBuffer>;

  constructor(word = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.word = word;
  }

  get isSet(): boolean {
    return Atomics.load(this.word, 0) !== 0;
  }

  set(): void {
    // Each link to a further page comes here; what is set need not go to the other processors again.
    if (!this.isSet) Atomics.store(this.word, 0, 1);
  }
}
