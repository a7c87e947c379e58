/**
 * The same text in one piece. One that was put together is a tree of its parts until it is read, and whatever it becomes a
 * part of has to go through that tree again: worth it for a text that many others begin with.
 *
 * @param text without lone surrogates
 */
export function flatText(text: string): string {
  return Buffer.from(text).toString();
}
