import type { components } from '../../../client/src/generated/openapi.ts';
import type { Route } from './address.js';
import type { Api, Reading } from './api.js';
import type { Contract } from './contract.js';
import type { Downloads } from './download.js';

/** The records of the API, as its OpenAPI document describes them. */
type Schemas = components['schemas'];
export type Event = Schemas['Event'];
export type Session = Schemas['EventSession'];
export type Ticket = Schemas['Ticket'];
export type Order = Schemas['Order'];
export type Offer = Schemas['Offer'];
export type TicketOffer = Schemas['TicketOffer'];
export type ProductOffer = Schemas['ProductOffer'];
export type BundleOffer = Schemas['BundleOffer'];
export type Pricing = ProductOffer['pricing'][number] & Partial<TicketOffer['pricing'][number]>;

/** A page of a list. */
export type Page = Omit<Schemas['EventPage'], 'items'> & { readonly items: readonly never[] };

export type Violation = Schemas['Violation'];

/** What views are drawn from. */
export interface Place {
  readonly api: Api;
  readonly contract: Contract;
  readonly route: Route;
  readonly readings: Readings;
  readonly downloads: Downloads;
}

/** What a place has read. */
export interface Readings {
  /** A page of a list. */
  page?: Reading;
  /** The list of the page at one record a page. */
  total?: Reading;
  /** Events that tickets name. */
  events?: Reading;
  record?: Reading;
  /** All records of an event. */
  tickets?: Reading;
  offers?: Reading;
  sessions?: Reading;
  /** Offers of other events that offers of the event name, by id. */
  foreignOffers?: ReadonlyMap<string, Reading>;
}

declare global {
  /** Of Chromium. */
  interface Window {
    readonly showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
  }
  interface FileSystemHandle {
    readonly remove?: () => Promise<void>;
  }
}
