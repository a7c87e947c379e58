import { html, nothing } from 'lit-html';

/**
 * The form in which a visitor gives a key.
 * @param {object} form
 * @param {string | undefined} form.refusal why the key tried before was not accepted
 * @param {boolean} form.isTrying
 * @param {(key: string) => void} form.signIn
 */
export function signIn({ refusal, isTrying, signIn: submit }) {
  /** @param {SubmitEvent} event */
  const submitForm = (event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const key = new FormData(event.currentTarget).get('key');
    if (typeof key === 'string') submit(key.trim());
  };
  return html`<main class="sign-in" id="main">
    <img src="shared/icon.svg" alt="" width="56" height="56" />
    <h1>Foyer explorer</h1>
    <p class="quiet">
      See the events, tickets, orders and offers of an organization as the API returns them, and the request
      behind each view.
    </p>
    <form class="panel" novalidate @submit=${submitForm}>
      <div class="field ${refusal === undefined ? '' : 'invalid'}">
        <label for="key">API key</label>
        <input
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          spellcheck="false"
          placeholder="svc:o:ORGANIZATION:SECRET"
          aria-describedby="key-hint${refusal === undefined ? '' : ' key-refusal'}"
          aria-invalid=${refusal !== undefined}
        />
        ${refusal === undefined ? nothing : html`<p class="violation" id="key-refusal" role="alert">${refusal}</p>`}
        <p class="hint" id="key-hint">Kept in this tab alone, until it is closed or you sign out.</p>
      </div>
      <button class="primary" ?disabled=${isTrying}>${isTrying ? 'Signing in …' : 'Sign in'}</button>
    </form>
  </main>`;
}
