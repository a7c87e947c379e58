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
