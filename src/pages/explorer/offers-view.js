import { html, nothing } from 'lit-html';
import { groupOffers, ownPricings, totalOf } from './offers.js';
import { linkTo } from './route.js';
import { stockBar } from './stock.js';
import { formatSession } from './times.js';
import { chips, formatMoney, nameOr, timeWithOffset } from './values.js';

/** @import { SessionRecord } from './columns.js' */
/** @import { BundleOffer, Offer, Option, Pricing, ProductOffer, SoldOffer, TicketOffer } from './offers.js' */

/** @typedef {(offerId: string) => string | undefined} NameOf returns the name of an offer, if it is known yet */

/**
 * Shows the offers of an event as they are sold: options under their base ticket, bundles with their content.
 * @param {readonly Offer[]} offers all offers of the event
 * @param {readonly SessionRecord[]} sessions
 * @param {NameOf} nameOfOther called for offers of other events, which bundles contain
 */
export function offersView(offers, sessions, nameOfOther) {
  const { tickets, products, bundles } = groupOffers(offers);
  const starts = new Map(sessions.map(({ id, startAt }) => [id, startAt]));
  const names = new Map(offers.map(({ offerId, name }) => [offerId, nameOr(name, offerId)]));
  /** @type {NameOf} */
  const nameOf = (offerId) => names.get(offerId) ?? nameOfOther(offerId);
  return html`
    ${group(
      'Tickets',
      tickets.map((sold) => soldOffer(sold, nameOf, starts)),
    )}
    ${group(
      'Products',
      products.map((sold) => soldOffer(sold, nameOf, starts)),
    )}
    ${group(
      'Bundles',
      bundles.map((bundle) => bundleView(bundle, nameOf)),
    )}
  `;
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
 * @param {NameOf} nameOf
 * @param {ReadonlyMap<string, string>} starts
 */
function soldOffer({ offer, ownPricings: pricings, options }, nameOf, starts) {
  if (offer.type === 'BUNDLE') return nothing;
  const inBundles = offer.pricing.filter(({ bundleOfferId }) => bundleOfferId !== null);
  return html`<article class="offer">
    <div class="offer-part">
      ${heading(offer)} ${pricings.length === 0 ? nothing : priceList(pricings, offer.currency)}
      ${
        inBundles.length === 0
          ? nothing
          : html`<h4>In bundles</h4>
              <ul class="prices">
                ${inBundles.map(({ bundleOfferId, name, price }) => {
                  const bundle = bundleOfferId ?? '';
                  return priceLine(
                    offerLink(bundle, nameOf(bundle) ?? name ?? bundle),
                    price,
                    offer.currency,
                  );
                })}
              </ul>`
      }
    </div>
    <div class="offer-part">
      ${stockView(offer, starts)}
      ${
        options.length === 0
          ? nothing
          : html`<h4>Options with this ticket</h4>
              <ul class="options">
                ${options.map((option) => optionView(option, nameOf, starts))}
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
 * @param {string} currency
 */
function priceList(pricings, currency) {
  return html`<ul class="prices">
    ${pricings.map(({ name, price, resaleEnabled }) =>
      priceLine(
        html`${name ?? 'Price'} ${resaleEnabled === true ? html`<span class="mark">resale</span>` : nothing}`,
        price,
        currency,
      ),
    )}
  </ul>`;
}

/**
 * @param {unknown} label
 * @param {number | null} price
 * @param {string} currency
 */
function priceLine(label, price, currency) {
  return html`<li>
    <span>${label}</span><span class="price">${price === null ? '–' : formatMoney(price, currency)}</span>
  </li>`;
}

/**
 * @param {Option} option
 * @param {NameOf} nameOf
 * @param {ReadonlyMap<string, string>} starts
 */
function optionView({ offerId, offer, pricings }, nameOf, starts) {
  return html`<li>
    ${offerLink(offerId, nameOf(offerId) ?? offerId)}
    ${offer === undefined ? nothing : html`${priceList(pricings, offer.currency)} ${isOptionOnly(offer, pricings) ? stockView(offer, starts) : nothing}`}
  </li>`;
}

/**
 * Returns whether an option has no price of its own, so that its stock has no other place.
 * @param {TicketOffer | ProductOffer} offer
 * @param {readonly Pricing[]} cited
 */
function isOptionOnly(offer, cited) {
  return ownPricings(offer).every((pricing) => cited.includes(pricing));
}

/**
 * @param {BundleOffer} bundle
 * @param {NameOf} nameOf
 */
function bundleView(bundle, nameOf) {
  const { price, compareAtPrice, currency, contains } = bundle;
  return html`<article class="offer">
    <div class="offer-part">
      ${heading(bundle)}
      <ul class="prices">
        ${priceLine(
          html`Bundle
          ${compareAtPrice === null ? nothing : html`<s class="quiet">${formatMoney(compareAtPrice, currency)}</s>`}`,
          price,
          currency,
        )}
      </ul>
      <h4>Contains</h4>
      <ul class="prices">
        ${contains.map(({ offerId, quantity, price: each }) =>
          priceLine(
            html`${quantity ?? '–'} ×
            ${offerId === null ? '–' : offerLink(offerId, nameOf(offerId) ?? offerId)}`,
            each,
            currency,
          ),
        )}
      </ul>
    </div>
  </article>`;
}

/**
 * @param {TicketOffer | ProductOffer} offer
 * @param {ReadonlyMap<string, string>} starts
 */
function stockView(offer, starts) {
  if (offer.inventory.length === 0) return nothing;
  const lines =
    offer.type === 'TICKET'
      ? offer.inventory.map((stock) => {
          const startAt = starts.get(stock.sessionId ?? '');
          return {
            label: startAt === undefined ? (stock.sessionId ?? '–') : timeWithOffset(startAt, formatSession),
            stock,
          };
        })
      : offer.inventory.map((stock) => ({ label: variantOf(stock), stock }));
  const list = html`<ul class="stocks">
    ${lines.map(({ label, stock }) => html`<li><span>${label}</span>${stockBar(totalOf([stock]))}</li>`)}
  </ul>`;
  return html`<div class="offer-stock">
    <h4>Stock</h4>
    ${
      lines.length === 1
        ? list
        : html`${stockBar(totalOf(offer.inventory))}
            <details>
              <summary>${lines.length} ${offer.type === 'TICKET' ? 'sessions' : 'variants'}</summary>
              ${list}
            </details>`
    }
  </div>`;
}

/** @param {ProductOffer['inventory'][number]} stock */
function variantOf({ option1, option2, option3, inventoryId }) {
  const options = [option1, option2, option3].filter((option) => option !== null);
  return options.length > 0 ? options.join(', ') : (inventoryId ?? '–');
}

/**
 * @param {string} offerId
 * @param {string} name
 */
function offerLink(offerId, name) {
  return html`<a href=${linkTo(['offers', offerId])}>${name}</a>`;
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
