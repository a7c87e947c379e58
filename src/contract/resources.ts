import {
  amount,
  anyObject,
  boolean,
  choice,
  derived,
  expecting,
  type Fields,
  id,
  integer,
  listed,
  naming,
  neverNull,
  nullable,
  number,
  object,
  objects,
  offsetTimestamp,
  past,
  price,
  quantity,
  required,
  type Resource,
  text,
  texts,
  timestamp,
  timeZone,
  title,
  utcTimestamp,
} from './field.ts';

export const ORDER_STATUSES = ['PENDING', 'FULFILLED', 'CANCELLED'] as const;
/** The collections of records, in the order of import and digests. */
export const COLLECTION_NAMES = ['events', 'sessions', 'tickets', 'orders', 'offers'] as const;
export const OFFER_TYPES = ['TICKET', 'PRODUCT', 'BUNDLE'] as const;

const currency = expecting(
  { kind: 'currencyCode' },
  required(text('Currency code of all amounts in the record.', 'EUR')),
);

export const EVENT_SESSION: Resource = {
  name: 'EventSession',
  description: 'One date of an event.',
  id: 'id',
  variants: {
    '': neverNull({
      id: listed(id('Session identifier.', 'ses_301')),
      startAt: offsetTimestamp('Start, with an offset.', '2027-03-14T20:00:00+01:00'),
      durationMinutes: quantity('Duration in minutes.', 110),
    }),
  },
};

export const EVENT: Resource = {
  name: 'Event',
  description: 'An event with a flat summary of its sessions.',
  id: 'id',
  variants: {
    '': neverNull({
      id: listed(id('Event identifier.', 'evt_42')),
      createdAt: past(utcTimestamp('Creation time in UTC.', '2026-09-01T08:00:00Z')),
      updatedAt: past(utcTimestamp('Time of the last update in UTC.', '2026-10-12T14:30:00Z')),
      title: title('Title.', 'Le Misanthrope'),
      description: nullable(text('Description.', 'Comédie de Molière en cinq actes.')),
      imageUrl: nullable(text('URL of an image.', 'https://images.example.org/misanthrope.jpg')),
      venueName: nullable(title('Name of the venue.', 'Théâtre des Quais')),
      venueAddress: nullable(
        object('VenueAddress', 'Address of the venue; null if the venue is stored as legacy free text.', {
          addressLine1: text('First line.', '12 quai des Lices'),
          addressLine2: nullable(text('Second line.', 'Entrée B')),
          city: text('City.', 'Rennes'),
          postalCode: text('Postal code.', '35000'),
          countryCode: text('Country code.', 'FR'),
        }),
      ),
      eventTimezone: timeZone('Time zone identifier of the IANA database.', 'Europe/Paris'),
      currency,
      tags: expecting({ kind: 'noComma' }, texts('Tags, as written.', ['Théâtre', 'Classique'])),
      sessionCount: derived('builder', integer('Number of sessions.', 2)),
      firstSessionStartAt: derived(
        'builder',
        offsetTimestamp('Start of the first session.', '2027-03-14T20:00:00+01:00'),
      ),
      lastSessionStartAt: derived(
        'builder',
        offsetTimestamp('Start of the last session.', '2027-03-15T20:00:00+01:00'),
      ),
      nextSessionStartAt: derived(
        'response',
        nullable(
          offsetTimestamp(
            'Start of the first session after the time of the request; null when there is none.',
            '2027-03-14T20:00:00+01:00',
          ),
        ),
      ),
      nextSessionId: derived(
        'response',
        nullable(text('Identifier of the next session; null when there is none.', 'ses_301')),
      ),
    }),
  },
};

export const TICKET: Resource = {
  name: 'Ticket',
  description: 'An issued ticket.',
  id: 'ticketId',
  variants: {
    '': {
      ticketId: id('Ticket identifier.', 'tkt_9001'),
      eventId: naming('events', id('Event of the ticket.', 'evt_42')),
      invoiceReference: text('Invoice reference.', 'INV-2026-00417'),
      status: required(text('Status, such as `FULFILLED`; returned as imported.', 'FULFILLED')),
      offerId: naming('offers', text('Catalog offer of the ticket.', 'off_7')),
      offerName: title('Name of the offer.', 'Carré or'),
      issuedAt: required(
        past(timestamp('Time of issue; lists are sorted by it, latest first.', '2026-11-02T10:15:00+01:00')),
      ),
      updatedAt: required(past(timestamp('Time of the last update.', '2026-11-02T10:15:00+01:00'))),
      cancelledAt: past(timestamp('Time of cancellation.', '2026-11-03T09:00:00+01:00')),
      eventSessionId: naming('sessions', id('Session of the ticket.', 'ses_301')),
      eventSessionStartAt: timestamp('Start of the session.', '2027-03-14T20:00:00+01:00'),
      seatingInfo: object('SeatingInfo', 'Seat; null for free seating.', {
        blocName: text('Block.', 'Orchestre'),
        seatRow: text('Row.', 'K'),
        seatNumber: text('Seat.', '12'),
      }),
      qrCode: expecting(
        { kind: 'unique' },
        listed(id('Value of the QR code, which the `qrCodes` filter matches.', 'Q7F2-K9D1-44XA')),
      ),
      issuanceChannel: text('Code of the issuance channel.', 'WEB'),
      salesChannelName: title('Name of the sales channel.', 'Site officiel'),
      salesChannelId: text('Identifier of the sales channel.', 'sch_1'),
      orderId: naming('orders', id('Order of the ticket.', 'ord_5120')),
      orderNumber: text('Number of the order.', 'A-5120'),
      priceLabel: title('Name of the pricing.', 'Plein tarif'),
      listPrice: price('Price before discounts.', 45),
      finalPaidPrice: price('Price paid.', 40.5),
      vat: number('VAT included in the price paid.', 2.11),
      currency,
      transferable: boolean('Whether the holder may transfer the ticket.', true),
      customer: object('TicketCustomer', 'Buyer.', {
        customerId: text('Customer identifier.', 'cus_88'),
        firstName: text('First name.', 'Zoé'),
        lastName: text('Last name.', 'Lefèvre'),
        email: text('E-mail address.', 'zoe.lefevre@example.org'),
      }),
      attendeeForm: object('AttendeeForm', 'Form completed by the attendee.', {
        formId: text('Form identifier.', 'frm_3'),
        submittedAt: past(timestamp('Time of submission.', '2026-11-02T10:20:00+01:00')),
        responses: objects('AttendeeResponse', 'Responses.', {
          fieldId: text('Field identifier.', 'fld_1'),
          value: texts('Response values.', ['Oui']),
        }),
      }),
    },
  },
};

const address: Fields = {
  type: choice(['personal', 'company'], 'Type of address.'),
  firstName: text('First name.', 'Zoé'),
  lastName: text('Last name.', 'Lefèvre'),
  companyName: text('Company.', 'Atelier Lefèvre'),
  vatNumber: text('VAT number.', 'FR12345678901'),
  phone: text('Telephone.', '+33 2 99 00 00 00'),
  addressLine1: required(text('First line.', '3 rue du Port')),
  addressLine2: text('Second line.', 'Bâtiment C'),
  city: required(text('City.', 'Nantes')),
  postalCode: required(text('Postal code.', '44000')),
  countryCode: required(text('Country code.', 'FR')),
};

export const ORDER: Resource = {
  name: 'Order',
  description: 'An order and its items.',
  id: 'orderId',
  variants: {
    '': {
      orderId: listed(id('Order identifier.', 'ord_5120')),
      orderNumber: text('Number shown to the customer.', 'A-5120'),
      salesChannelId: text('Identifier of the sales channel.', 'sch_1'),
      salesChannelName: title('Name of the sales channel.', 'Site officiel'),
      status: choice(ORDER_STATUSES, 'Status.', 'FULFILLED'),
      customer: object('Customer', 'Customer.', {
        customerId: required(text('Customer identifier.', 'cus_88')),
        email: expecting(
          { kind: 'noSpace' },
          required(text('E-mail address, which the `email` filter matches.', 'zoe.lefevre@example.org')),
        ),
        firstName: text('First name.', 'Zoé'),
        lastName: text('Last name.', 'Lefèvre'),
      }),
      billingAddress: object('Address', 'Billing address.', address),
      currency,
      totalPrice: price('Total before discounts, including fees and add-ons.', 93),
      totalPaidPrice: price('Total paid.', 84),
      subtotalPrice: price('Price of the items before discounts.', 90),
      subtotalPaidPrice: price('Price paid for the items.', 81),
      discountAmount: amount('Discount on the items.', 9),
      discountCode: text('Discount code.', 'AUTOMNE10'),
      paymentProvider: text('Payment provider.', 'stripe'),
      paymentMethod: text('Payment method.', 'card'),
      serviceFees: amount('Service fees.', 3),
      deliveryFees: amount('Delivery fees.', 0),
      totalVatAmount: number('VAT included in the total paid.', 4.22),
      delivery: object('Delivery', 'Delivery.', {
        type: choice(['home_delivery', 'pickup_point', 'on_site'], 'Type of delivery.'),
        carrierId: text('Carrier identifier.', 'car_2'),
        homeDeliveryAddress: object('Address', 'Delivery address.', address),
        pickupPoint: anyObject('PickupPoint', 'Pickup point; its fields are returned as imported.', {
          name: 'Tabac du Port',
        }),
      }),
      placedItems: objects('PlacedItem', 'Items.', {
        offerId: naming('offers', text('Offer.', 'off_7')),
        offerName: title('Name of the offer.', 'Carré or'),
        inventoryId: text('Inventory identifier.', 'inv_7_301'),
        quantity: quantity('Quantity.', 2),
        unitPrice: price('Unit price before discounts.', 45),
        unitPaidPrice: price('Unit price paid.', 40.5),
        unitDiscountAmount: amount('Discount per unit.', 4.5),
        discountCode: text('Discount code.', 'AUTOMNE10'),
        priceLabel: title('Name of the pricing.', 'Plein tarif'),
        offerType: text('Type of the offer, such as `TICKET`.', 'TICKET'),
        eventId: naming('events', text('Event, which the `eventIds` filter matches.', 'evt_42')),
        sessionId: naming('sessions', text('Session.', 'ses_301')),
        unitVatAmount: number('VAT included in the unit price paid.', 2.11),
      }),
      optIns: objects('OptIn', 'Consents requested from the customer.', {
        name: text('Consent name.', 'newsletter'),
        accepted: boolean('Whether the customer accepted.', false),
      }),
      createdAt: required(
        past(timestamp('Creation time; lists are sorted by it, latest first.', '2026-11-02T10:14:00+01:00')),
      ),
      fulfilledAt: past(timestamp('Time of fulfilment.', '2026-11-02T10:15:00+01:00')),
      cancelledAt: past(timestamp('Time of cancellation.', '2026-11-03T09:00:00+01:00')),
      updatedAt: required(past(timestamp('Time of the last update.', '2026-11-02T10:15:00+01:00'))),
      paymentStatus: text('Payment status, such as `PAID`; returned as imported.', 'PAID'),
      refundedAmount: amount('Refunded amount.', 40.5),
      ticketsProtected: boolean('Whether the tickets are protected.', false),
      addOns: objects('AddOn', 'Additional services.', {
        category: text('Category, such as `INSURANCE` or `DONATION`.', 'DONATION'),
        serviceId: text('Service identifier.', 'srv_1'),
        serviceName: text('Service name.', 'Fonds de création'),
        addOnPaidPrice: price('Price paid.', 3),
      }),
    },
  },
};

const offerHead = (type: (typeof OFFER_TYPES)[number]): Fields => ({
  offerId: id('Offer identifier, as in `offerId` of tickets.', 'off_7'),
  type: choice([type], 'Type of the offer, which determines its other fields.'),
  name: title('Name.', 'Carré or'),
  description: nullable(text('Description; may contain markup.', '<p>Les meilleures places.</p>')),
  currency,
  images: texts('URLs of images.', ['https://images.example.org/or.jpg']),
  tags: texts('Tags.', ['Vente anticipée']),
  minQuantityPerOrder: quantity('Minimum quantity per order.', 1),
  maxQuantityPerOrder: expecting(
    { kind: 'notBelow', field: 'minQuantityPerOrder' },
    quantity('Maximum quantity per order.', 8),
  ),
  compareAtPrice: nullable(price('Reference price for comparison.', 52)),
  createdAt: past(
    timestamp('Creation time; lists are sorted by it, earliest first.', '2026-09-02T09:00:00+02:00'),
  ),
});

const pricing: Fields = {
  pricingId: expecting({ kind: 'identifies' }, text('Pricing identifier.', 'prc_71')),
  name: title('Name.', 'Plein tarif'),
  price: price('Price.', 45),
  bundleOfferId: naming(
    'offers',
    nullable(text('Bundle that sells this pricing; null for a pricing of the offer itself.', 'off_90')),
  ),
};

const stock: Fields = {
  totalStock: quantity('Total stock.', 220),
  availableStock: quantity('Available stock.', 87),
};

const vatRate = expecting({ kind: 'fraction' }, number('VAT rate as a fraction.', 0.055));

export const OFFER: Resource = {
  name: 'Offer',
  description: 'An entry of the catalog: tickets for an event, a product, or a bundle of offers.',
  id: 'offerId',
  variants: {
    TICKET: neverNull({
      ...offerHead('TICKET'),
      eventId: naming('events', id('Event of the offer; only TICKET offers report it.', 'evt_42')),
      vatRate,
      defaultMaximumCapacity: quantity('Default maximum capacity.', 220),
      attendeeFormId: nullable(text('Form that attendees complete.', 'frm_3')),
      pricing: objects('TicketPricing', 'Pricings.', {
        ...pricing,
        resaleEnabled: boolean('Whether tickets of this pricing may be resold.', true),
      }),
      optionOffers: objects('OfferOption', 'Options sold with this ticket, each at its pricing.', {
        offerId: naming('offers', text('Option offer.', 'off_12')),
        pricingId: naming('pricings', text('Pricing of the option offer.', 'prc_121')),
      }),
      inventory: objects('TicketInventory', 'Stock by session.', {
        inventoryId: text('Inventory identifier.', 'inv_7_301'),
        sessionId: naming('sessions', text('Session.', 'ses_301')),
        ...stock,
      }),
    }),
    PRODUCT: neverNull({
      ...offerHead('PRODUCT'),
      vatRate,
      defaultQuantity: quantity('Default quantity.', 1),
      variantOptionLabels: object('VariantOptionLabels', 'Names of the variant options.', {
        option1: nullable(text('First.', 'Taille')),
        option2: nullable(text('Second.', 'Couleur')),
        option3: nullable(text('Third.', 'Matière')),
      }),
      pricing: objects('ProductPricing', 'Pricings.', pricing),
      inventory: objects('ProductInventory', 'Stock by variant.', {
        inventoryId: text('Inventory identifier.', 'inv_30_m'),
        option1: nullable(text('First option.', 'M')),
        option2: nullable(text('Second option.', 'Noir')),
        option3: nullable(text('Third option.', 'Coton')),
        ...stock,
        weightInGrams: quantity('Weight in grams.', 180),
      }),
    }),
    BUNDLE: neverNull({
      ...offerHead('BUNDLE'),
      pricingId: text('Pricing identifier.', 'prc_900'),
      price: price('Price.', 99),
      contains: objects('BundleItem', 'Offers in the bundle.', {
        offerId: naming('offers', text('Offer.', 'off_7')),
        quantity: quantity('Quantity.', 2),
        price: price('Unit price within the bundle.', 40),
      }),
    }),
  },
};

export const RESOURCES: Readonly<Record<(typeof COLLECTION_NAMES)[number], Resource>> = {
  events: EVENT,
  sessions: EVENT_SESSION,
  tickets: TICKET,
  orders: ORDER,
  offers: OFFER,
};
