import { html, nothing, svg } from 'lit-html';
import { formatCount } from '../shared/format.js';
import { linkTo, queryOf } from './address.js';
import { groupOffers, ownPricings, stockBySession, totalOf } from './offers.js';
import { formatSession } from './times.js';
import { chips, formatMoney, nameOr, timeWithOffset } from './values.js';

/** @import { Option, SoldOffer, StockLeft } from './offers.js' */
/** @import { BundleOffer, Event, Offer, Pricing, ProductOffer, Session, TicketOffer } from './types.d.ts' */

/**
 * The offers of an event, and their stock.
 *
 * @typedef {object} Names what an offer refers to by an id
 * @property {(offerId: string) => string | undefined} nameOf
 * @property {ReadonlyMap<string, string>} starts starts of the sessions
 */

const SESSIONS_AT_FIRST = 12;

/**
 * Shows the offers of an event as they are sold: options under their base ticket, bundles with their content.
 * @param {readonly Offer[]} offers all offers of the event
 * @param {readonly Session[]} sessions
 * @param {Names['nameOf']} nameOfForeign returns the name of an offer of another event, if it is known yet
 */
export function offersView(offers, sessions, nameOfForeign) {
  const { tickets, products, bundles } = groupOffers(offers);
  const names = new Map(offers.map(({ offerId, name }) => [offerId, nameOr(name, offerId)]));
  /** @type {Names} */
  const around = {
    nameOf: (offerId) => names.get(offerId) ?? nameOfForeign(offerId),
    starts: new Map(sessions.map(({ id, startAt }) => [id, startAt])),
  };
  /** @param {SoldOffer} sold */
  const show = (sold) => soldOffer(sold, around);
  return html`${group('Tickets', tickets.map(show))} ${group('Products', products.map(show))}
  ${group(
    'Bundles',
    bundles.map((bundle) => bundleOffer(bundle, around)),
  )}`;
}

/**
 * @param {string} title
 * @param {readonly unknown[]} offers
 */
function group(title, offers) {
  if (offers.length === 0) return nothing;
  return html`<section class="offer-group">
    <h2>${title}</h2>
    <div class="offers ${title.toLowerCase()}">${offers}</div>
  </section>`;
}

/**
 * @param {SoldOffer} sold
 * @param {Names} names
 */
function soldOffer({ offer, ownPricings: pricings, options }, names) {
  const inBundles = offer.pricing.flatMap(({ bundleOfferId, name, price }) =>
    bundleOfferId === null ? [] : [[offerLink(bundleOfferId, names, name), price]],
  );
  return html`<article class="offer">
    <div class="offer-part">
      ${heading(offer)} ${ownPrices(pricings, offer)}
      ${inBundles.length === 0 ? nothing : html`<h4>In bundles</h4>`} ${priceList(inBundles, offer)}
    </div>
    <div class="offer-part">
      ${stockOf(offer, names)}
      ${
        options.length === 0
          ? nothing
          : html`<h4>Options with this ticket</h4>
              <ul class="options">
                ${options.map((option) => optionView(option, names))}
              </ul>`
      }
    </div>
  </article>`;
}

/** @param {Offer} offer */
function heading({ offerId, name, description, tags }) {
  return html`<header>
    <h3><a href=${linkTo(['offers', offerId])}>${nameOr(name, offerId)}</a></h3>
    ${description === null ? nothing : html`<p class="quiet">${textOfMarkup(description)}</p>`} ${chips(tags)}
  </header>`;
}

/**
 * @param {readonly Pricing[]} pricings
 * @param {Offer} offer
 */
function ownPrices(pricings, offer) {
  const resale = html`<span class="mark">resale</span>`;
  return priceList(
    pricings.map(({ name, price, resaleEnabled }) => [
      html`${name} ${resaleEnabled ? resale : nothing}`,
      price,
    ]),
    offer,
  );
}

/**
 * @param {readonly (readonly unknown[])[]} prices each with a label and an amount
 * @param {Offer} offer
 */
function priceList(prices, { currency }) {
  if (prices.length === 0) return nothing;
  return html`<ul class="prices">
    ${prices.map(
      ([label, price]) =>
        html`<li>
          <span>${label}</span><span class="price">${formatMoney(Number(price), currency)}</span>
        </li>`,
    )}
  </ul>`;
}

/**
 * Shows an option. Its stock is here if it has no price of its own, and so no other place.
 * @param {Option} option
 * @param {Names} names
 */
function optionView({ offerId, offer, pricings }, names) {
  if (offer === undefined) return html`<li>${offerLink(offerId, names)}</li>`;
  const isOptionOnly = ownPricings(offer).every((pricing) => pricings.includes(pricing));
  return html`<li>
    ${offerLink(offerId, names)} ${ownPrices(pricings, offer)}
    ${isOptionOnly ? stockOf(offer, names) : nothing}
  </li>`;
}

/**
 * @param {BundleOffer} bundle
 * @param {Names} names
 */
function bundleOffer(bundle, names) {
  const { price, compareAtPrice, currency, contains } = bundle;
  const compared =
    compareAtPrice === null ? nothing : html`<s class="quiet">${formatMoney(compareAtPrice, currency)}</s>`;
  return html`<article class="offer">
    <div class="offer-part">
      ${heading(bundle)} ${priceList([[html`Bundle ${compared}`, price]], bundle)}
      <h4>Contains</h4>
      ${priceList(
        contains.map(({ offerId, quantity, price: each }) => [
          html`${quantity} × ${offerLink(offerId, names)}`,
          each,
        ]),
        bundle,
      )}
    </div>
  </article>`;
}

/**
 * @param {string} offerId
 * @param {Names} names
 * @param {string} [name] shown until the name of the offer is known
 */
function offerLink(offerId, { nameOf }, name = offerId) {
  return html`<a href=${linkTo(['offers', offerId])}>${nameOf(offerId) ?? name}</a>`;
}

/**
 * @param {TicketOffer | ProductOffer} offer
 * @param {Names} names
 */
function stockOf(offer, { starts }) {
  const { type, inventory } = offer;
  if (inventory.length === 0) return nothing;
  const labels =
    type === 'TICKET'
      ? offer.inventory.map(({ sessionId }) => {
          const startAt = starts.get(sessionId);
          return startAt === undefined ? sessionId : timeWithOffset(startAt, formatSession);
        })
      : offer.inventory.map(variantOf);
  const list = html`<ul class="stocks">
    ${inventory.map((stock, i) => html`<li><span>${labels[i]}</span>${stockBar(totalOf([stock]))}</li>`)}
  </ul>`;
  return html`<div class="offer-stock">
    <h4>Stock</h4>
    ${
      inventory.length === 1
        ? list
        : html`${stockBar(totalOf(inventory))}
            <details>
              <summary>${inventory.length} ${type === 'TICKET' ? 'sessions' : 'variants'}</summary>
              ${list}
            </details>`
    }
  </div>`;
}

/** @param {ProductOffer['inventory'][number]} stock */
function variantOf({ option1, option2, option3, inventoryId }) {
  return [option1, option2, option3].filter((option) => option !== null).join(', ') || inventoryId;
}

/**
 * Shows stock as a bar with its numbers.
 * @param {StockLeft} stock
 */
function stockBar({ available, total }) {
  const share = total > 0 ? Math.min(1, Math.max(0, available / total)) : 0;
  const text = available <= 0 ? 'none left' : `${Math.round(share * 100)}% left`;
  return html`<div class="stock">
    <svg class="bar" width="100%" height="8" aria-hidden="true">
      <rect class="track" width="100%" height="8" rx="4" />
      ${share > 0 ? svg`<rect class="fill" width="${share * 100}%" height="8" rx="4" />` : ''}
    </svg>
    <span class="stock-text"
      >${formatCount(available)} of ${formatCount(total)} <span class="quiet">${text}</span></span
    >
  </div>`;
}

/**
 * Shows the stock that is left for each session, over the base tickets of the event.
 * @param {readonly Offer[]} offers
 * @param {readonly Session[]} sessions
 * @param {Event} event
 */
export function stockBySessionView(offers, sessions, { id, nextSessionId }) {
  const stocks = stockBySession(offers);
  const known = sessions.filter((session) => stocks.has(session.id));
  const next = known.findIndex((session) => session.id === nextSessionId);
  const first = next === -1 ? Math.max(0, known.length - SESSIONS_AT_FIRST) : next;
  const atFirst = known.slice(first, first + SESSIONS_AT_FIRST);
  /** @param {readonly Session[]} shown */
  const list = (shown) =>
    html`<ul class="stocks wide">
      ${shown.map((session) => {
        const tickets = linkTo(['events', id, 'tickets'], queryOf([['sessionIds', session.id]]));
        const stock = stocks.get(session.id) ?? totalOf([]);
        return html`<li>
          <a href=${tickets}>${timeWithOffset(session.startAt, formatSession)}</a>${stockBar(stock)}
        </li>`;
      })}
    </ul>`;
  return html`<section class="panel" aria-labelledby="stock">
    <div class="panel-header">
      <h2 id="stock">Stock left</h2>
      <p class="quiet">
        ${next === -1 ? 'The latest sessions' : 'The next sessions'}, over all tickets sold on their own
      </p>
    </div>
    ${known.length === 0 ? html`<p class="quiet">No offer of this event has a stock.</p>` : list(atFirst)}
    ${
      known.length === atFirst.length
        ? nothing
        : html`<details class="as-table">
            <summary>All ${known.length} sessions</summary>
            ${list(known)}
          </details>`
    }
  </section>`;
}

const UNSEEN = /<!--[^]*?-->|<(script|style|template)\b[^]*?<\/\1\s*>/gi;
const TAG = /<\/?([a-z][a-z0-9]*)[^>]*>/gi;
/** Elements within a line of text. The others are written apart. */
const INLINE = new Set('a abbr b code em i mark q s small span strong sub sup u'.split(' '));

/**
 * Returns the text of a description, with a blank between its blocks. Its markup is neither shown nor run. Tags are
 * removed before a parser decodes the entities: it would report event handlers as violations of the policy.
 * @param {string} markup
 */
function textOfMarkup(markup) {
  const withoutTags = markup
    .replaceAll(UNSEEN, ' ')
    .replaceAll(TAG, (_, /** @type {string} */ name) => (INLINE.has(name.toLowerCase()) ? '' : ' '));
  const text = new DOMParser().parseFromString(withoutTags.replaceAll('<', '&lt;'), 'text/html');
  return text.body.textContent.trim();
}
