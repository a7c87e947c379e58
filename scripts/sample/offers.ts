/* c8 ignore start: types alone, never loaded */
import type { Seconds, ZoneClock } from './clock.ts';
import type { Form, Merchandise, Package, Production, Seating } from './profile.ts';

export interface Pricing {
  readonly pricingId: string;
  readonly name: string;
  readonly price: number;
  /** The bundle that sells it; null for the offer's own. */
  readonly bundleOfferId: string | null;
  readonly resaleEnabled: boolean;
}

export interface TicketOffer {
  readonly type: 'TICKET';
  readonly offerId: string;
  readonly name: string;
  readonly description: string | null;
  readonly compareAtPrice: number | null;
  readonly taxRate: number;
  readonly seating: Seating;
  readonly form: Form | null;
  readonly pricings: Pricing[];
  readonly options: Option[];
  /** One entry for each session of the event, in its order. */
  readonly stock: SessionStock[];
}

/** An offer sold under a ticket, and at which of its own pricings. */
export interface Option {
  readonly offer: TicketOffer | ProductOffer;
  readonly pricing: Pricing;
}

export interface SessionStock {
  readonly inventoryId: string;
  readonly sessionId: string;
  issued: number;
  cancelled: number;
}

export interface ProductOffer {
  readonly type: 'PRODUCT';
  readonly offerId: string;
  readonly merchandise: Merchandise;
  readonly pricings: Pricing[];
  readonly variants: { readonly inventoryId: string; sold: number }[];
  readonly heldBy: readonly StagedEvent[];
}

export interface BundleOffer {
  readonly type: 'BUNDLE';
  readonly offerId: string;
  readonly pricingId: string;
  readonly contents: Package;
  readonly parts: BundlePart[];
  readonly heldBy: readonly StagedEvent[];
}

/** A part is sold at a pricing that belongs to the part's offer and names the bundle. */
export type BundlePart =
  | {
      readonly offer: TicketOffer;
      readonly event: StagedEvent;
      readonly pricing: Pricing;
      readonly quantity: number;
    }
  | {
      readonly offer: ProductOffer;
      readonly event: null;
      readonly pricing: Pricing;
      readonly quantity: number;
    };

/** An event with all that is sold for it. */
export interface StagedEvent {
  readonly eventId: string;
  readonly title: string;
  readonly production: Production;
  readonly clock: ZoneClock;
  readonly createdAt: Seconds;
  readonly updatedAt: Seconds;
  readonly sessions: readonly Session[];
  readonly categories: readonly TicketOffer[];
  readonly extras: readonly TicketOffer[];
  /** Tickets still to be issued for this event. */
  remaining: number;
}

export interface Session {
  readonly sessionId: string;
  readonly start: Seconds;
  /** The start as records write it. */
  readonly startAt: string;
  readonly minutes: number;
}
