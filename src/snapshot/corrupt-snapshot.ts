/** A file that is not a snapshot that can go live. The message says why, for a person to act on; it does not name the file. */
export class CorruptSnapshot extends Error {
  override readonly name = 'CorruptSnapshot';
}
