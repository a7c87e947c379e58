import { MEGABYTE } from './shared-arrays.ts';

/** Smaller images are packed into one buffer, since each has dozens of arrays, and a file may hold many of them. */
export const PACKED_BELOW_BYTES = MEGABYTE;

/** Alignment of arrays in a packed image: the width of the widest elements. */
const ALIGNMENT = 8;

/**
 * Returns an image with the size of its buffers, without the records that images share. A small image is copied into one
 * shared buffer. Its arrays are in the order of its properties:
 *
 *     | array | array | … |    each at a multiple of 8 bytes
 *
 * Sending a buffer to a thread, and collecting it after its release, takes some microseconds for any size. An
 * organization has about a hundred arrays, and a file may hold thousands of small organizations.
 */
export function sizedImage<Image extends object>(image: Image): Image & { readonly bytesHeld: number } {
  const places = new Map<ArrayBufferView, number>();
  let end = 0;
  withArrays(image, (array) => {
    if (!places.has(array)) {
      places.set(array, end);
      end += Math.ceil(array.byteLength / ALIGNMENT) * ALIGNMENT;
    }
    return array;
  });
  const buffers = new Set(places.keys().map(({ buffer }) => buffer));
  const bytesHeld = buffers.values().reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (bytesHeld >= PACKED_BELOW_BYTES) return { ...image, bytesHeld };
  const packed = new SharedArrayBuffer(end);
  const copies = new Map(Array.from(places, ([array, at]) => [array, copyTo(packed, at, array)]));
  return { ...(withArrays(image, (array) => copies.get(array)) as Image), bytesHeld: end };
}

/** Replaces the typed arrays of an image, which consists of them, plain objects and arrays, nested in any way, and shared records. */
function withArrays(part: unknown, replaced: (array: ArrayBufferView) => unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if ('isShared' in part && part.isShared === true) return part;
  if (ArrayBuffer.isView(part)) return replaced(part);
  if (Array.isArray(part)) return part.map((value) => withArrays(value, replaced));
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, withArrays(value, replaced)]));
}

function copyTo(buffer: SharedArrayBuffer, at: number, array: ArrayBufferView): ArrayBufferView {
  const { buffer: source, byteOffset, byteLength } = array;
  new Uint8Array(buffer).set(new Uint8Array(source, byteOffset, byteLength), at);
  if (array instanceof Uint8Array) return new Uint8Array(buffer, at, array.length);
  if (array instanceof Uint32Array) return new Uint32Array(buffer, at, array.length);
  if (array instanceof BigInt64Array) return new BigInt64Array(buffer, at, array.length);
  throw new TypeError('an image has no arrays of this type');
}

/** V8 begins a collection when the counted memory has grown by this. Small releases add up to it. */
const PROMPT_BYTES = 64 * MEGABYTE;
/** Delay of the second allocation. A collection that was in progress at the release may have marked the memory. */
const REPEAT_MS = 1000;

/**
 * Makes the garbage collector run after a release of shared memory. V8 does not count shared memory, so a small heap
 * triggers no collection. This function allocates and drops counted memory, which triggers one. The
 * allocation waits for a later turn of the event loop, when the releasing functions have left the stack.
 */
export function promptGarbageCollection(bytes: number): void {
  if (bytes === 0) return;
  setImmediate(allocate, bytes);
  setTimeout(allocate, REPEAT_MS, bytes).unref();
}

function allocate(bytes: number): void {
  try {
    Buffer.allocUnsafeSlow(bytes < MEGABYTE ? bytes : bytes + PROMPT_BYTES);
  } catch {
    // V8 collects all garbage before an allocation fails, so the purpose is met.
  }
}
