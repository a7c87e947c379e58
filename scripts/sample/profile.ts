import type { Schedule } from './clock.ts';
import type { Currency } from './money.ts';

/**
 * The description of a kind of organization, from which all its records are made. Prices are in minor units of its
 * currency and include tax. Tags and images are none by default. An image is the name of a file in `imageFolder`.
 */
export interface Profile {
  readonly organizationId: string;
  readonly name: string;
  /** Places that distinguish further organizations of the same kind. */
  readonly branches: readonly string[];
  readonly imageFolder: string;
  readonly zone: string;
  readonly currency: Currency;
  readonly countryCode: string;
  readonly orderNumberPrefix: string;
  readonly invoicePrefix: string;
  readonly taxRate: number;
  /** Multiple to which computed prices are rounded. */
  readonly priceStep: number;
  readonly serviceFeePerTicket: number;
  /** Pricings that every seat category offers. The first is the usual rate. */
  readonly rates: readonly { readonly name: string; readonly percent: number; readonly resale: boolean }[];
  /** Names of the pricings of merchandise, sold alone and with a ticket. */
  readonly shopRate: string;
  readonly withTicketRate: string;
  readonly house: Venue;
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

/** An event and the offers of its tickets. */
export interface Production {
  readonly title: string;
  readonly description?: string;
  readonly image?: string;
  /** Default: the house. */
  readonly venue?: Venue;
  readonly tags: readonly string[];
  readonly schedule: Schedule;
  /** Relative demand for its tickets. */
  readonly popularity: number;
  readonly categories: readonly Category[];
  readonly extras?: readonly Extra[];
}

/** A place with an address, a name in legacy free text, or neither. The zone is the organization's by default. */
export interface Venue {
  readonly name?: string;
  readonly address?: readonly [
    addressLine1: string,
    addressLine2: string | null,
    city: string,
    postalCode: string,
    countryCode: string,
  ];
  readonly zone?: string;
}

export const NO_VENUE: Venue = {};

/** A seat category: a TICKET offer that is sold alone. */
export interface Category {
  readonly name: string;
  readonly description?: string;
  readonly price: number;
  readonly compareAtPrice?: number;
  /** Default: free seating. */
  readonly seating?: Seating;
  readonly form?: Form;
}

/** Numbered seats, or a named area without numbers. */
export type Seating =
  | {
      readonly blocs: readonly string[];
      readonly rows: number;
      readonly seatsPerRow: number;
      readonly rowNames: 'letters' | 'numbers';
    }
  | { readonly area: string };

/** A TICKET offer that is sold only as an option. It has a pricing for each of the first categories of base tickets. */
export interface Extra {
  readonly name: string;
  readonly description?: string;
  readonly pricings: readonly { readonly name: string; readonly price: number }[];
}

/** An attendee form: the choices of each field, which takes one answer, or several if it is named in `multiple`. */
export interface Form {
  readonly formId: string;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly multiple: readonly string[];
}

/** A PRODUCT offer. */
export interface Merchandise {
  readonly name: string;
  readonly description?: string;
  readonly price: number;
  readonly compareAtPrice?: number;
  /** Price as an option of a ticket of the first category. Absent: only sold alone. */
  readonly priceWithTicket?: number;
  /** Default: the rate of tickets. */
  readonly taxRate?: number;
  readonly images?: readonly string[];
  readonly tags?: readonly string[];
  /** Up to three. */
  readonly optionLabels?: readonly string[];
  readonly variants: readonly (readonly [weightInGrams: number, ...options: string[]])[];
  /** Positions of the productions that hold it. Absent: all. */
  readonly productions?: readonly number[];
}

/** A BUNDLE offer: first-category tickets of some productions, optionally with a piece of merchandise. */
export interface Package {
  readonly name: string;
  readonly description?: string;
  /** Price in percent of the single prices. */
  readonly percent: number;
  /** Positions of productions. A small season omits those it does not have. */
  readonly productions: readonly number[];
  readonly ticketsEach: number;
  /** Position in the merchandise. */
  readonly merchandise?: number;
  readonly images?: readonly string[];
  readonly tags?: readonly string[];
}

export interface SalesChannel {
  readonly salesChannelId: string;
  readonly salesChannelName: string;
  readonly issuanceChannel: string;
}

type PickupPoint = readonly [
  pickupPointId: string,
  name: string,
  addressLine1: string,
  city: string,
  postalCode: string,
];

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

/** Returns the URL of an image of a profile. */
export function imageUrl({ imageFolder }: Profile, image: string): string {
  return `https://images.example.org/${imageFolder}/${image}.jpg`;
}

/**
 * Splits a list of names at blanks; `_` stands for a blank within a name. A name in another script is followed by a
 * slash and its Latin letters.
 */
export function names(list: string): Name[] {
  return list.split(' ').map((entry) => {
    const [written, latin = written] = entry.replace('_', ' ').split('/');
    const letters = latin
      .replace('Ø', 'O')
      .normalize('NFD')
      .replace(/[^A-Za-z]/g, '');
    return [written, letters.toLowerCase()];
  });
}

/** Splits a list of towns at commas. The postal code of each follows its last blank. */
export function towns(list: string): Population['towns'] {
  return list.split(', ').map((town) => {
    const blank = town.lastIndexOf(' ');
    return { city: town.slice(0, blank), postalCode: town.slice(blank + 1) };
  });
}
