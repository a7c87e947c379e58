import type { Bytes, Floats, Int64s, Uint32s } from './shared-arrays.ts';

/**
 * Bytes of shared memory that an image holds: those of every buffer it reaches, each counted once.
 *
 * @param image plain objects and arrays of typed arrays over shared memory, nested in any way
 */
export function imageBytes(image: object): number {
  const buffers = new Set<ArrayBufferLike>();
  collect(image, buffers);
  return buffers.values().reduce((sum, { byteLength }) => sum + byteLength, 0);
}

function collect(part: object, buffers: Set<ArrayBufferLike>): void {
  if (ArrayBuffer.isView(part)) {
    buffers.add(part.buffer);
    return;
  }
  for (const value of Object.values<unknown>({ ...part })) {
    if (typeof value === 'object' && value !== null) collect(value, buffers);
  }
}

/** Every array begins at a multiple of this, the width of the widest elements. */
const ALIGNMENT = 8;

type SharedArray = Bytes | Uint32s | Int64s | Floats;

/**
 * The same image in one shared buffer, every array of it in the order in which the image names them:
 *
 *     | array | array | … |    each at a multiple of 8 bytes
 *
 * To hand a buffer to a thread, and to collect it when it is let go of, takes some microseconds however small it is. An
 * organization has a hundred arrays, and a file may hold thousands of small organizations.
 *
 * @param image plain objects and arrays of typed arrays, nested in any way
 */
export function packedImage<Image extends object>(image: Image): Image {
  const places = new Map<SharedArray, number>();
  const buffer = new SharedArrayBuffer(placeAll(image, places, 0));
  const views = new Map(places.entries().map(([array, at]) => [array, copyTo(buffer, at, array)]));
  return withViews(image, views) as Image;
}

/** Notes where the arrays of a part are to begin, from `at` on. Returns where the last of them ends. */
function placeAll(part: unknown, places: Map<SharedArray, number>, at: number): number {
  if (isArray(part)) {
    if (places.has(part)) return at;
    places.set(part, at);
    return at + Math.ceil(part.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  return isObject(part)
    ? Object.values(part).reduce<number>((end, value) => placeAll(value, places, end), at)
    : at;
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
  if (ArrayBuffer.isView(part) && !isOne) throw new TypeError('an image holds no arrays of this kind');
  return isOne;
}

function isObject(part: unknown): part is Readonly<Record<string, unknown>> {
  return typeof part === 'object' && part !== null;
}

/** Until a marking that was under way, and passes over what it had marked before the release, has ended. */
const AGAIN_MS = 1000;

/**
 * Tells the collector of garbage that shared memory was let go of. V8 does not count shared memory: with a heap of some
 * megabytes it sees no reason to collect, while hundreds of megabytes wait for it. So as much memory is asked for that it
 * does count, and let go of as well, without being touched: it begins to mark, in small steps, and finds both.
 * That is done in a later turn, when nobody who let go of the memory holds it on the stack any more.
 */
export function promptGarbageCollection(bytes: number): void {
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
