import type { ImportRecord } from './import-folder.ts';

/** A record of each resource as it is served: with every documented field, in the documented order. */

export const FULL_EVENT = {
  id: 'evt full',
  createdAt: '2026-09-01T23:30:00.120Z',
  updatedAt: '2026-10-12T14:30Z',
  title: 'Ça va "bien"?\n',
  description: '<b>gras</b> \\ 🎭',
  imageUrl: 'https://images.example.org/a.jpg',
  venueName: 'Théâtre',
  venueAddress: {
    addressLine1: '12 quai',
    addressLine2: 'Entrée B',
    city: 'Rennes',
    postalCode: '35000',
    countryCode: 'FR',
  },
  eventTimezone: 'America/Argentina/Buenos_Aires',
  currency: 'EUR',
  tags: ['  Théâtre  DE rue ', 'Jazz', 'jazz'],
};

/** The imported form of the full event: its times have an offset. */
export const FULL_EVENT_IMPORTED = {
  ...FULL_EVENT,
  createdAt: '2026-09-02T01:30:00.120+02:00',
  updatedAt: '2026-10-12T09:30-05:00',
};

export const FULL_SESSION = { id: 'ses/2', startAt: '2027-03-14T20:00:00+01:00', durationMinutes: 110 };

export const FULL_TICKET = {
  ticketId: 'tkt "1"',
  eventId: 'evt full',
  invoiceReference: 'INV-1',
  status: 'SOMETHING_ELSE',
  offerId: 'off_7',
  offerName: 'Carré or',
  issuedAt: '2026-11-02T10:15:00.1234567+01:00',
  updatedAt: '2026-11-02T10:15-00:00',
  cancelledAt: '2026-11-03T09:00:00Z',
  eventSessionId: 'ses/2',
  eventSessionStartAt: '2027-03-14T20:00:00+01:00',
  seatingInfo: { blocName: 'Orchestre', seatRow: 'K', seatNumber: '12' },
  qrCode: 'Q7,F2 ',
  issuanceChannel: 'WEB',
  salesChannelName: 'Site',
  salesChannelId: 'sch_1',
  orderId: 'ord_5120',
  orderNumber: 'A-5120',
  priceLabel: 'Plein tarif',
  listPrice: 45,
  finalPaidPrice: 40.5,
  vat: 2.11,
  currency: 'EUR',
  transferable: false,
  customer: { customerId: 'cus_88', firstName: 'Zoé', lastName: 'Lefèvre', email: 'Zoe@Example.org' },
  attendeeForm: {
    formId: 'frm_3',
    submittedAt: '2026-11-02T10:20:00+01:00',
    responses: [
      { fieldId: 'fld_1', value: ['Oui', 'Non'] },
      { fieldId: 'fld_2', value: [] },
    ],
  },
};

const FULL_ADDRESS = {
  type: 'company',
  firstName: 'Zoé',
  lastName: 'Lefèvre',
  companyName: 'Atelier',
  vatNumber: 'FR12345678901',
  phone: '+33 2 99 00 00 00',
  addressLine1: '3 rue du Port',
  addressLine2: 'Bâtiment C',
  city: 'Nantes',
  postalCode: '44000',
  countryCode: 'FR',
};

export const FULL_ORDER = {
  orderId: 'ord_5120',
  orderNumber: 'A-5120',
  salesChannelId: 'sch_1',
  salesChannelName: 'Site',
  status: 'FULFILLED',
  customer: { customerId: 'cus_88', email: 'Zoé@Example.ORG', firstName: 'Zoé', lastName: 'Lefèvre' },
  billingAddress: FULL_ADDRESS,
  currency: 'EUR',
  totalPrice: 93,
  totalPaidPrice: 84.25,
  subtotalPrice: 90,
  subtotalPaidPrice: 81,
  discountAmount: 9,
  discountCode: 'AUTOMNE10',
  paymentProvider: 'stripe',
  paymentMethod: 'card',
  serviceFees: 3,
  deliveryFees: 0,
  totalVatAmount: 4.22,
  delivery: {
    type: 'pickup_point',
    carrierId: 'car_2',
    homeDeliveryAddress: { ...FULL_ADDRESS, type: 'personal' },
    pickupPoint: { name: 'Tabac', hours: [{ from: 9, to: null }], open: true },
  },
  placedItems: [
    {
      offerId: 'off_7',
      offerName: 'Carré or',
      inventoryId: 'inv_7',
      quantity: 2,
      unitPrice: 45,
      unitPaidPrice: 40.5,
      unitDiscountAmount: 4.5,
      discountCode: 'AUTOMNE10',
      priceLabel: 'Plein tarif',
      offerType: 'TICKET',
      eventId: 'evt full',
      sessionId: 'ses/2',
      unitVatAmount: 2.11,
    },
  ],
  optIns: [{ name: 'newsletter', accepted: false }],
  createdAt: '2026-11-02T10:14:00+01:00',
  fulfilledAt: '2026-11-02T10:15:00+01:00',
  cancelledAt: '2026-11-03T10:15:00+01:00',
  updatedAt: '2026-11-02T10:15:00+01:00',
  paymentStatus: 'PAID',
  refundedAmount: 40.5,
  ticketsProtected: true,
  addOns: [{ category: 'DONATION', serviceId: 'srv_1', serviceName: 'Fonds', addOnPaidPrice: 3 }],
};

const offerHead = (offerId: string, type: string) => ({
  offerId,
  type,
  name: 'Carré or',
  description: '<p>Les meilleures places.</p>',
  currency: 'EUR',
  images: ['https://images.example.org/or.jpg'],
  tags: ['Vente anticipée'],
  minQuantityPerOrder: 1,
  maxQuantityPerOrder: 8,
  compareAtPrice: 52,
  createdAt: '2026-09-02T09:00:00+02:00',
});

export const FULL_TICKET_OFFER = {
  ...offerHead('off_7', 'TICKET'),
  eventId: 'evt full',
  vatRate: 0.055,
  defaultMaximumCapacity: 220,
  attendeeFormId: 'frm_3',
  pricing: [
    { pricingId: 'prc_1', name: 'Plein', price: 45, bundleOfferId: 'off_9', resaleEnabled: true },
    { pricingId: 'prc_2', name: 'Réduit', price: 30.5, bundleOfferId: null, resaleEnabled: true },
  ],
  optionOffers: [{ offerId: 'off_12', pricingId: 'prc_121' }],
  inventory: [{ inventoryId: 'inv_7', sessionId: 'ses/2', totalStock: 220, availableStock: 87 }],
};

export const FULL_PRODUCT_OFFER = {
  ...offerHead('off_8', 'PRODUCT'),
  vatRate: 0.2,
  defaultQuantity: 1,
  variantOptionLabels: { option1: 'Taille', option2: 'Couleur', option3: 'Matière' },
  pricing: [{ pricingId: 'prc_8', name: 'Prix', price: 12, bundleOfferId: 'off_9' }],
  inventory: [
    {
      inventoryId: 'inv_8',
      option1: 'M',
      option2: 'Noir',
      option3: 'Coton',
      totalStock: 9,
      availableStock: 0,
      weightInGrams: 180,
    },
  ],
};

export const FULL_BUNDLE_OFFER = {
  ...offerHead('off_9', 'BUNDLE'),
  pricingId: 'prc_900',
  price: 99,
  contains: [{ offerId: 'off_7', quantity: 2, price: 40 }],
};

/** Records with the required fields alone, and any others that the caller adds. */

export const minimalEvent = (id: string, more: ImportRecord = {}) => ({
  id,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  title: '',
  eventTimezone: 'Asia/Tokyo',
  currency: 'JPY',
  ...more,
});

export const minimalSession = (id: string, eventId: string, more: ImportRecord = {}) => ({
  eventId,
  id,
  startAt: '2027-01-01T20:00:00+09:00',
  durationMinutes: 0,
  ...more,
});

export const minimalTicket = (ticketId: string, more: ImportRecord = {}) => ({
  ticketId,
  eventId: 'e',
  status: 'FULFILLED',
  issuedAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  eventSessionId: 's',
  qrCode: 'q',
  orderId: 'o',
  currency: 'JPY',
  ...more,
});

export const minimalOrder = (orderId: string, more: ImportRecord = {}) => ({
  orderId,
  status: 'PENDING',
  currency: 'JPY',
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  ...more,
});

export const minimalOffer = (offerId: string, type: string, more: ImportRecord = {}) => ({
  offerId,
  type,
  name: '',
  currency: 'JPY',
  minQuantityPerOrder: 0,
  maxQuantityPerOrder: 0,
  createdAt: '2026-01-01T00:00:00Z',
  ...(type === 'TICKET' && { eventId: 'e', vatRate: 0, defaultMaximumCapacity: 0 }),
  ...(type === 'PRODUCT' && { vatRate: 0, defaultQuantity: 0, variantOptionLabels: {} }),
  ...(type === 'BUNDLE' && { pricingId: '', price: 0 }),
  ...more,
});

export const minimalPricing = (pricingId: string, more: ImportRecord = {}) => ({
  pricingId,
  name: '',
  price: 0,
  resaleEnabled: false,
  ...more,
});

export const minimalStock = (sessionId: string, more: ImportRecord = {}) => ({
  inventoryId: '',
  sessionId,
  totalStock: 0,
  availableStock: 0,
  ...more,
});

export const inOrganization =
  (organizationId: string) =>
  (record: ImportRecord): ImportRecord => ({ organizationId, ...record });

/** Returns functions that make minimal records of an organization. */
export function recordsIn(organizationId: string) {
  const own =
    <Parameters extends unknown[]>(make: (...parameters: Parameters) => ImportRecord) =>
    (...parameters: Parameters): ImportRecord => ({ organizationId, ...make(...parameters) });
  return {
    event: own(minimalEvent),
    session: own(minimalSession),
    ticket: own(minimalTicket),
    order: own(minimalOrder),
    offer: own(minimalOffer),
  };
}

/** Makes values from the numbers 0 to `count - 1`. */
export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}
