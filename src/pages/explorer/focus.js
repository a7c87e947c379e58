import { linkTo, routeOf } from './route.js';

/** The focus and the scroll position after a change of place. */

/**
 * Returns the page of an address: its list or record, without its part and query.
 * @param {string} url
 */
export function pageOf(url) {
  return linkTo(routeOf(new URL(url).hash).segments.slice(0, 2));
}

/**
 * Moves the focus to the heading, as a browser does for a new page.
 * @returns whether there is one
 */
export function focusHeading() {
  const heading = document.querySelector('main h1');
  if (!(heading instanceof HTMLElement)) return false;
  heading.focus();
  revealCurrentLinks();
  return true;
}

/** Brings the records into view after a step within a page, and gives them a focus that was lost. */
export function showResults() {
  const results = document.querySelector('.results');
  if (!(results instanceof HTMLElement)) return;
  if (document.activeElement === document.body) results.focus({ preventScroll: true });
  if (results.getBoundingClientRect().top < 0) results.scrollIntoView();
}

/** Scrolls menus that are wider than the screen to the links of the place. */
function revealCurrentLinks() {
  for (const link of document.querySelectorAll('nav [aria-current]'))
    link.scrollIntoView({ block: 'nearest', inline: 'center' });
}
