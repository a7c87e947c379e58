/**
 * The scroll positions of the entries in the history of the tab. The browser restores a position before the content is
 * drawn to which it belongs, so that the page does it.
 */

history.scrollRestoration = 'manual';

/**
 * By the state of the entry, which marks it.
 * @type {Map<number, number>}
 */
const positions = new Map();
let entry = markOfEntry();

/** Returns the mark of the entry in the address. A new entry gets one. */
function markOfEntry() {
  if (typeof history.state !== 'number') history.replaceState(Math.random(), '');
  return Number(history.state);
}

/** Keeps the position of the entry that is left. Returns that of the one in the address, undefined for a new one. */
export function changeOfPosition() {
  positions.set(entry, scrollY);
  entry = markOfEntry();
  return positions.get(entry);
}
