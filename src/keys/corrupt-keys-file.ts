/** A file that is not a keys file, or not a whole one. The message says why, for a person to act on, and does not name the file. */
export class CorruptKeysFile extends Error {
  override readonly name = 'CorruptKeysFile';
}
