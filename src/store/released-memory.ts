/**
 * Tells the collector of garbage that shared memory was let go of. V8 does not count shared memory: with a heap of some
 * megabytes it sees no reason to collect, while hundreds of megabytes wait for it. So as much memory is asked for that it
 * does count, and let go of as well, without being touched: it begins to mark, in small steps, and finds both.
 */
export function noteReleasedMemory(bytes: number): void {
  try {
    Buffer.allocUnsafeSlow(bytes);
  } catch {
    // There is no room even to ask: V8 has collected all there was before it said so.
  }
}
