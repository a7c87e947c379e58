import type { Schedule } from './clock.ts';
import type { Currency } from './money.ts';

/**
 * The description of a kind of organization, from which all its records are made. Prices are in minor units of its
 * currency and include tax.
 */
export interface Profile {
  readonly organizationId: string;
  readonly name: string;
  /** Places that distinguish further organizations of the same kind. */
  readonly branches: readonly string[];
  readonly zone: string;
  readonly currency: Currency;
  readonly countryCode: string;
  readonly orderNumberPrefix: string;
  readonly invoicePrefix: string;
  readonly ticketTaxRate: number;
  /** Multiple to which computed prices are rounded. */
  readonly priceStep: number;
  readonly serviceFeePerTicket: number;
  /** The first is the usual rate. */
  readonly rates: readonly Rate[];
  /** Names of the pricings of merchandise, sold alone and with a ticket. */
  readonly shopRate: string;
  readonly withTicketRate: string;
  readonly productions: readonly Production[];
  readonly merchandise: readonly Merchandise[];
  readonly packages: readonly Package[];
  readonly discounts: readonly { readonly code: string; readonly percent: number }[];
  readonly salesChannels: readonly SalesChannel[];
  readonly payments: readonly { readonly provider: string; readonly method: string }[];
  readonly homeDelivery: { readonly carrierId: string; readonly fee: number };
  readonly pickup: {
    readonly carrierId: string;
    readonly fee: number;
    readonly points: readonly PickupPoint[];
  };
  readonly insurance: { readonly serviceId: string; readonly serviceName: string; readonly percent: number };
  readonly donation: {
    readonly serviceId: string;
    readonly serviceName: string;
    readonly amounts: readonly number[];
  };
  readonly optIns: readonly string[];
  readonly population: Population;
}

/** A pricing that every seat category offers. */
export interface Rate {
  readonly name: string;
  readonly percent: number;
  readonly resale: boolean;
}

/** An event and the offers of its tickets. */
export interface Production extends Schedule {
  readonly title: string;
  readonly description: string | null;
  readonly imageUrl: string | null;
  readonly venue: Venue;
  readonly tags: readonly string[];
  readonly minutes: number;
  /** Relative demand for its tickets. */
  readonly popularity: number;
  readonly categories: readonly Category[];
  readonly extras: readonly Extra[];
}

export interface Venue {
  readonly name: string | null;
  /** Null for a venue in legacy free text, and for an event without a venue. */
  readonly address: VenueAddress | null;
  /** Absent for the zone of the organization. */
  readonly zone?: string;
}

export interface VenueAddress {
  readonly addressLine1: string;
  readonly addressLine2: string | null;
  readonly city: string;
  readonly postalCode: string;
  readonly countryCode: string;
}

/** A seat category: a TICKET offer that is sold alone. */
export interface Category {
  readonly name: string;
  readonly description: string | null;
  readonly price: number;
  readonly compareAtPrice?: number;
  readonly seating: Seating;
  readonly form?: Form;
}

/** Numbered seats, a named area without numbers, or free seating. */
export type Seating =
  | {
      readonly kind: 'numbered';
      readonly blocs: readonly string[];
      readonly rows: number;
      readonly seatsPerRow: number;
      readonly rowNames: 'letters' | 'numbers';
    }
  | { readonly kind: 'area'; readonly bloc: string }
  | { readonly kind: 'free' };

/** A TICKET offer that is sold only as an option, at a price for each category of base ticket. */
export interface Extra {
  readonly name: string;
  readonly description: string | null;
  readonly pricings: readonly {
    readonly name: string;
    readonly price: number;
    /** Position in the categories of the production. */
    readonly category: number;
  }[];
}

/** An attendee form. A field takes one answer, or several if `multiple` is set. */
export interface Form {
  readonly formId: string;
  readonly fields: readonly {
    readonly fieldId: string;
    readonly answers: readonly string[];
    readonly multiple?: boolean;
  }[];
}

/** A PRODUCT offer. */
export interface Merchandise {
  readonly name: string;
  readonly description: string | null;
  readonly price: number;
  readonly compareAtPrice?: number;
  /** Price as an option of a ticket of the first category; null if it is only sold alone. */
  readonly priceWithTicket: number | null;
  readonly taxRate: number;
  readonly images: readonly string[];
  readonly tags: readonly string[];
  readonly optionLabels: VariantOptions;
  readonly variants: readonly { readonly options: VariantOptions; readonly weightInGrams: number }[];
  /** Positions of the productions that hold it. Absent: all. */
  readonly productions?: readonly number[];
}

export type VariantOptions = readonly [string | null, string | null, string | null];

/** A BUNDLE offer: first-category tickets of some productions, optionally with a piece of merchandise. */
export interface Package {
  readonly name: string;
  readonly description: string | null;
  /** Price in percent of the single prices. */
  readonly percent: number;
  /** Positions of productions. A small season omits those it does not have. */
  readonly productions: readonly number[];
  readonly ticketsEach: number;
  /** Position in the merchandise. */
  readonly merchandise: number | null;
  readonly images: readonly string[];
  readonly tags: readonly string[];
}

export interface SalesChannel {
  readonly salesChannelId: string;
  readonly salesChannelName: string;
  readonly issuanceChannel: string;
}

export interface PickupPoint {
  readonly pickupPointId: string;
  readonly name: string;
  readonly addressLine1: string;
  readonly city: string;
  readonly postalCode: string;
  readonly countryCode: string;
}

/** The people and companies that buy. `#` stands for a random digit, `%` for a house number. */
export interface Population {
  readonly firstNames: readonly Name[];
  readonly lastNames: readonly Name[];
  readonly streets: readonly string[];
  readonly addressLines2: readonly string[];
  readonly towns: readonly { readonly city: string; readonly postalCode: string }[];
  readonly companies: readonly { readonly companyName: string; readonly vatNumber: string }[];
  readonly phone: string;
}

/** A name as it is written, and in the letters of an e-mail address. */
export type Name = readonly [written: string, latin: string];

/** Splits a list of names at blanks; `_` stands for a blank within a name. */
export function latinNames(list: string): Name[] {
  return list.split(' ').map((name) => {
    const written = name.replace('_', ' ');
    const latin = written
      .replace('Ø', 'O')
      .normalize('NFD')
      .replace(/[^A-Za-z]/g, '');
    return [written, latin.toLowerCase()];
  });
}
