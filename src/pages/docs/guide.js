import { copy, quoted } from '../shared/curl.js';
import { forgetKey, keepKey, masked, sharedKey, storedKey, takeGivenKey } from '../shared/session.js';

/**
 * The guide and the pages beside it: their examples get the address of this service and the key of the tab. The page
 * hides the secret of the key; a button copies a command with it.
 */

const BASE = new URL('..', location.href).href.replace(/\/$/, '');
const EXAMPLE_BASE = /\$FOYER_URL|https:\/\/tickets\.example\.org/g;
/** A text of a shell with the key, in double quotes, or the key alone. */
const EXAMPLE_KEY = /"([^"$]*)\$FOYER_KEY"|(?<=FOYER_KEY=)svc:o:ORGANIZATION:SECRET/g;

/** Shows each example with the key that the tab has now. @type {(() => void)[]} */
const shows = [];
const showAll = () => {
  for (const show of shows) show();
};

const given = takeGivenKey();
if (given !== undefined) keepKey(given);

document.querySelector('#note')?.removeAttribute('hidden');
for (const code of document.querySelectorAll('code')) {
  code.textContent = code.textContent.replaceAll(EXAMPLE_BASE, BASE);
  if (code.matches(':is(.language-sh, .language-ts, .language-python)')) addCopyButton(code);
}
// Also when the browser shows the page again after a sign-in on another one.
addEventListener('pageshow', showAll);
const forget = () => {
  forgetKey();
  showAll();
};
await sharedKey(forget, '..');
showAll();

/** @param {Element} code */
function addCopyButton(code) {
  const example = code.textContent;
  const button = document.createElement('button');
  const outcome = document.createElement('span');
  outcome.role = 'status';
  button.type = 'button';
  button.addEventListener('click', () => {
    void copy(withKey(example, storedKey())).then((words) => {
      outcome.textContent = words;
    });
  });
  code.after(button, outcome);
  shows.push(() => {
    const key = storedKey();
    code.textContent = withKey(example, key && masked(key));
    button.textContent = example.match(EXAMPLE_KEY) && key !== undefined ? 'Copy with the key' : 'Copy';
    outcome.replaceChildren();
  });
}

/**
 * @param {string} example
 * @param {string | undefined} key
 */
function withKey(example, key) {
  if (key === undefined) return example;
  return example.replaceAll(EXAMPLE_KEY, (_, before = '') => quoted(`${before}${key}`));
}
