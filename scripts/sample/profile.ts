import type { OfferName, Production } from './model.ts';
import type { Currency } from './money.ts';

/** The parameters of an organization. With the model, they determine its events and offers. */
export interface Profile {
  readonly organizationId: string;
  readonly name: string;
  /** Places that distinguish further organizations of this profile. */
  readonly branches: readonly string[];
  readonly zone: string;
  readonly countryCode: string;
  readonly currency: Currency;
  /** Unit of the prices, in minor units of the currency. */
  readonly priceStep: number;
  readonly taxRate: number;
  readonly orderNumberPrefix: string;
  readonly invoicePrefix: string;
  readonly places: Readonly<Record<Production['place'], Venue>>;
  /** An event without a description has no image. */
  readonly productions: Readonly<
    Record<Production['name'], readonly [title: string, description: string | null, ...tags: string[]]>
  >;
  readonly offers: Readonly<Record<OfferName, readonly [name: string, description?: string]>>;
  /** Names of the blocs of a seat category; none for free seating. */
  readonly blocs: Readonly<Partial<Record<OfferName, readonly string[]>>>;
  /** Names of the pricings of seats, and of those of merchandise. */
  readonly rates: readonly string[];
  readonly shopRate: string;
  readonly withTicketRate: string;
  /** The options of merchandise: their labels, and those of each variant. */
  readonly optionLabels: readonly string[];
  readonly variants: readonly (readonly string[])[];
  readonly form: Form;
  readonly discounts: readonly { readonly code: string; readonly percent: number }[];
  readonly salesChannels: readonly SalesChannel[];
  readonly carriers: { readonly home: string; readonly pickup: string };
  readonly pickupPoints: readonly PickupPoint[];
  readonly insurance: AddOn;
  readonly donation: AddOn;
  readonly optIns: readonly string[];
  readonly population: Population;
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

/** An attendee form: the choices of each field, which takes one answer, or several if it is named in `multiple`. */
export interface Form {
  readonly formId: string;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly multiple: readonly string[];
}

export interface SalesChannel {
  readonly salesChannelId: string;
  readonly salesChannelName: string;
  readonly issuanceChannel: string;
}

interface AddOn {
  readonly serviceId: string;
  readonly serviceName: string;
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
