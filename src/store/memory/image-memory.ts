import type { Bytes, Floats, Int64s, Uint32s } from './shared-arrays.ts';

/** Images consist of plain objects and arrays of these typed arrays, nested in any way. */
type SharedArray = Bytes | Uint32s | Int64s | Floats;

/** Returns the size of the buffers of an image in bytes. Counts each buffer once. */
export function imageBytes(image: object): number {
  const buffers = new Set<ArrayBufferLike>();
  for (const { buffer } of arraysOf(image)) buffers.add(buffer);
  return buffers.values().reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Alignment of arrays in a packed image: the width of the widest elements. */
const ALIGNMENT = 8;

/**
 * Copies an image into one shared buffer. Its arrays are in the order of its properties:
 *
 *     | array | array | … |    each at a multiple of 8 bytes
 *
 * Sending a buffer to a thread, and collecting it after its release, takes some microseconds for any size. An
 * organization has about a hundred arrays, and a file may hold thousands of small organizations.
 */
export function packedImage<Image extends object>(image: Image): Image {
  const places = new Map<SharedArray, number>();
  let end = 0;
  for (const array of arraysOf(image)) {
    if (places.has(array)) continue;
    places.set(array, end);
    end += Math.ceil(array.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  const buffer = new SharedArrayBuffer(end);
  const views = new Map(places.entries().map(([array, at]) => [array, copyTo(buffer, at, array)]));
  return withViews(image, views) as Image;
}

/** Yields the arrays of an image. */
function* arraysOf(part: unknown): Generator<SharedArray> {
  if (isArray(part)) yield part;
  else if (isObject(part)) for (const value of Object.values(part)) yield* arraysOf(value);
}

function copyTo(buffer: SharedArrayBuffer, at: number, array: SharedArray): SharedArray {
  const { buffer: source, byteOffset, byteLength, length } = array;
  new Uint8Array(buffer, at, byteLength).set(new Uint8Array(source, byteOffset, byteLength));
  if (array instanceof Uint8Array) return new Uint8Array(buffer, at, length);
  if (array instanceof Uint32Array) return new Uint32Array(buffer, at, length);
  if (array instanceof Float64Array) return new Float64Array(buffer, at, length);
  return new BigInt64Array(buffer, at, length);
}

function withViews(part: unknown, views: ReadonlyMap<SharedArray, SharedArray>): unknown {
  if (isArray(part)) return views.get(part);
  if (Array.isArray(part)) return part.map((value) => withViews(value, views));
  if (!isObject(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, withViews(value, views)]));
}

function isArray(part: unknown): part is SharedArray {
  const isOne = [Uint8Array, Uint32Array, Float64Array, BigInt64Array].some((kind) => part instanceof kind);
  if (ArrayBuffer.isView(part) && !isOne) throw new TypeError('an image has no arrays of this type');
  return isOne;
}

function isObject(part: unknown): part is Readonly<Record<string, unknown>> {
  return typeof part === 'object' && part !== null;
}

/** Delay of the second allocation. A collection that was in progress at the release may have marked the memory. */
const REPEAT_MS = 1000;

/**
 * Makes the garbage collector run after a release of shared memory. V8 does not count shared memory, so a small heap
 * triggers no collection. This function allocates and drops counted memory of the same size, which triggers one. The
 * allocation waits for a later turn of the event loop, when the releasing functions have left the stack.
 */
export function promptGarbageCollection(bytes: number): void {
  if (bytes === 0) return;
  setImmediate(allocate, bytes);
  setTimeout(allocate, REPEAT_MS, bytes).unref();
}

function allocate(bytes: number): void {
  try {
    Buffer.allocUnsafeSlow(bytes);
  } catch {
    // V8 collects all garbage before an allocation fails, so the purpose is met.
  }
}
