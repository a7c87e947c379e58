/** Until a marking that was under way, and passes over what it had marked before the release, has ended. */
const AGAIN_MS = 1000;

/**
 * Tells the collector of garbage that shared memory was let go of. V8 does not count shared memory: with a heap of some
 * megabytes it sees no reason to collect, while hundreds of megabytes wait for it. So as much memory is asked for that it
 * does count, and let go of as well, without being touched: it begins to mark, in small steps, and finds both.
 * That is done in a later turn, when nobody who let go of the memory holds it on the stack any more.
 */
export function noteReleasedMemory(bytes: number): void {
  if (bytes === 0) return;
  setImmediate(askFor, bytes);
  setTimeout(askFor, AGAIN_MS, bytes).unref();
}

function askFor(bytes: number): void {
  try {
    Buffer.allocUnsafeSlow(bytes);
  } catch {
    // There is no room even to ask: V8 has collected all there was before it said so.
  }
}
