import {
  anyObject,
  boolean,
  choice,
  derived,
  type Fields,
  id,
  integer,
  number,
  object,
  objects,
  required,
  type Resource,
  text,
  texts,
  timestamp,
  timeZone,
  utcTimestamp,
} from './field.ts';

export const ORDER_STATUSES = ['PENDING', 'FULFILLED', 'CANCELLED'] as const;
export const OFFER_TYPES = ['TICKET', 'PRODUCT', 'BUNDLE'] as const;

const currency = required(text('Currency code of the money amounts of the record.', 'EUR'));

export const EVENT_SESSION: Resource = {
  name: 'EventSession',
  description: 'One date of an event.',
  id: 'id',
  variants: {
    '': {
      id: id('Session identifier.', 'ses_301'),
      startAt: required(timestamp('Start, with an offset.', '2027-03-14T20:00:00+01:00')),
      durationMinutes: integer('Duration in minutes.', 110),
    },
  },
};

export const EVENT: Resource = {
  name: 'Event',
  description: 'An event with a flat summary of its sessions.',
  id: 'id',
  variants: {
    '': {
      id: id('Event identifier.', 'evt_42'),
      createdAt: required(utcTimestamp('UTC creation time.', '2026-09-01T08:00:00Z')),
      updatedAt: utcTimestamp('UTC time of the last update.', '2026-10-12T14:30:00Z'),
      title: text('Title.', 'Le Misanthrope'),
      description: text('Description.', 'Comédie de Molière en cinq actes.'),
      imageUrl: text('Address of an image.', 'https://images.example.org/misanthrope.jpg'),
      venueName: text('Name of the venue.', 'Théâtre des Quais'),
      venueAddress: object('Address of the venue; null while the venue is held as free text.', {
        addressLine1: text('First line.', '12 quai des Lices'),
        addressLine2: text('Second line.', 'Entrée B'),
        city: text('City.', 'Rennes'),
        postalCode: text('Postal code.', '35000'),
        countryCode: text('Country code.', 'FR'),
      }),
      eventTimezone: timeZone('Identifier of the IANA time zone database.', 'Europe/Paris'),
      currency,
      tags: texts('Tags, as they were written.', ['Théâtre', 'Classique']),
      sessionCount: derived(required(integer('Number of sessions.', 2))),
      firstSessionStartAt: derived(
        required(timestamp('Start of the first session.', '2027-03-14T20:00:00+01:00')),
      ),
      lastSessionStartAt: derived(
        required(timestamp('Start of the last session.', '2027-03-15T20:00:00+01:00')),
      ),
      nextSessionStartAt: derived(
        timestamp(
          'Start of the earliest session that starts after the moment of the request; null when there is none.',
          '2027-03-14T20:00:00+01:00',
        ),
      ),
      nextSessionId: derived(text('Identifier of that session; null when there is none.', 'ses_301')),
    },
  },
};

export const TICKET: Resource = {
  name: 'Ticket',
  description: 'An issued ticket.',
  id: 'ticketId',
  variants: {
    '': {
      ticketId: id('Ticket identifier.', 'tkt_9001'),
      eventId: id('Event of the ticket.', 'evt_42'),
      invoiceReference: text('Reference of the invoice.', 'INV-2026-00417'),
      status: required(text('Status; `FULFILLED` is usual, other values are passed through.', 'FULFILLED')),
      offerId: text('Offer of the catalog under which it was sold.', 'off_7'),
      offerName: text('Name of that offer.', 'Carré or'),
      issuedAt: required(
        timestamp('Time of issue; tickets are listed by it, latest first.', '2026-11-02T10:15:00+01:00'),
      ),
      updatedAt: required(timestamp('Time of the last update.', '2026-11-02T10:15:00+01:00')),
      cancelledAt: timestamp('Time of cancellation.', '2026-11-03T09:00:00+01:00'),
      eventSessionId: id('Session of the ticket.', 'ses_301'),
      eventSessionStartAt: timestamp('Start of that session.', '2027-03-14T20:00:00+01:00'),
      seatingInfo: object('Where the holder sits; null in free seating.', {
        blocName: text('Block.', 'Orchestre'),
        seatRow: text('Row.', 'K'),
        seatNumber: text('Seat.', '12'),
      }),
      qrCode: id('Value in the QR code; the `qrCodes` filter matches it.', 'Q7F2-K9D1-44XA'),
      issuanceChannel: text('Code of the channel of issue.', 'WEB'),
      salesChannelName: text('Name of the sales channel.', 'Site officiel'),
      salesChannelId: text('Identifier of the sales channel.', 'sch_1'),
      orderId: id('Order of the ticket.', 'ord_5120'),
      orderNumber: text('Number of that order.', 'A-5120'),
      priceLabel: text('Name of the pricing.', 'Plein tarif'),
      listPrice: number('Price before discounts.', 45),
      finalPaidPrice: number('Price paid.', 40.5),
      vat: number('VAT contained in the price paid.', 2.11),
      currency,
      transferable: boolean('Whether the holder may pass it on.', true),
      customer: object('Who bought it.', {
        customerId: text('Customer identifier.', 'cus_88'),
        firstName: text('First name.', 'Zoé'),
        lastName: text('Last name.', 'Lefèvre'),
        email: text('E-mail address.', 'zoe.lefevre@example.org'),
      }),
      attendeeForm: object('What the attendee answered.', {
        formId: text('Form identifier.', 'frm_3'),
        submittedAt: timestamp('Time of submission.', '2026-11-02T10:20:00+01:00'),
        responses: objects('Answers.', {
          fieldId: text('Field of the form.', 'fld_1'),
          value: texts('Values given.', ['Oui']),
        }),
      }),
    },
  },
};

const address: Fields = {
  type: choice(['personal', 'company'], 'Kind of address.'),
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
  description: 'An order with its items.',
  id: 'orderId',
  variants: {
    '': {
      orderId: id('Order identifier.', 'ord_5120'),
      orderNumber: text('Number shown to the customer.', 'A-5120'),
      salesChannelId: text('Identifier of the sales channel.', 'sch_1'),
      salesChannelName: text('Name of the sales channel.', 'Site officiel'),
      status: choice(ORDER_STATUSES, 'Status.', 'FULFILLED'),
      customer: object('Who ordered.', {
        customerId: required(text('Customer identifier.', 'cus_88')),
        email: required(text('E-mail address; the `email` filter matches it.', 'zoe.lefevre@example.org')),
        firstName: text('First name.', 'Zoé'),
        lastName: text('Last name.', 'Lefèvre'),
      }),
      billingAddress: object('Billing address.', address),
      currency,
      totalPrice: number('Total before discounts, fees and add-ons included.', 93),
      totalPaidPrice: number('Total paid.', 84),
      subtotalPrice: number('Items before discounts.', 90),
      subtotalPaidPrice: number('Items as paid.', 81),
      discountAmount: number('Discount on the items.', 9),
      discountCode: text('Code of the discount.', 'AUTOMNE10'),
      paymentProvider: text('Payment provider.', 'stripe'),
      paymentMethod: text('Payment method.', 'card'),
      serviceFees: number('Service fees.', 3),
      deliveryFees: number('Delivery fees.', 0),
      totalVatAmount: number('VAT contained in the total paid.', 4.22),
      delivery: object('How it is delivered.', {
        type: choice(['home_delivery', 'pickup_point', 'on_site'], 'Kind of delivery.'),
        carrierId: text('Carrier.', 'car_2'),
        homeDeliveryAddress: object('Where it is delivered.', address),
        pickupPoint: anyObject('Where it is picked up; its fields are passed through.', {
          name: 'Tabac du Port',
        }),
      }),
      placedItems: objects('Items.', {
        offerId: text('Offer.', 'off_7'),
        offerName: text('Name of the offer.', 'Carré or'),
        inventoryId: text('Inventory taken from.', 'inv_7_301'),
        quantity: integer('How many.', 2),
        unitPrice: number('Price of one before discounts.', 45),
        unitPaidPrice: number('Price paid for one.', 40.5),
        unitDiscountAmount: number('Discount on one.', 4.5),
        discountCode: text('Code of the discount.', 'AUTOMNE10'),
        priceLabel: text('Name of the pricing.', 'Plein tarif'),
        offerType: text('Type of the offer, such as `TICKET`.', 'TICKET'),
        eventId: text('Event; the `eventIds` filter matches it.', 'evt_42'),
        sessionId: text('Session.', 'ses_301'),
        unitVatAmount: number('VAT contained in the price paid for one.', 2.11),
      }),
      optIns: objects('Consents asked for.', {
        name: text('Name of the consent.', 'newsletter'),
        accepted: boolean('Whether it was given.', false),
      }),
      createdAt: required(
        timestamp('Time of creation; orders are listed by it, latest first.', '2026-11-02T10:14:00+01:00'),
      ),
      fulfilledAt: timestamp('Time of fulfilment.', '2026-11-02T10:15:00+01:00'),
      cancelledAt: timestamp('Time of cancellation.', '2026-11-03T09:00:00+01:00'),
      updatedAt: required(timestamp('Time of the last update.', '2026-11-02T10:15:00+01:00')),
      paymentStatus: text('Status of the payment, such as `PAID`; passed through.', 'PAID'),
      refundedAmount: number('Amount refunded.', 40.5),
      ticketsProtected: boolean('Whether the tickets are protected.', false),
      addOns: objects('What was bought beside the items.', {
        category: text('Category, such as `INSURANCE` or `DONATION`.', 'DONATION'),
        serviceId: text('Service.', 'srv_1'),
        serviceName: text('Name of the service.', 'Fonds de création'),
        addOnPaidPrice: number('Price paid.', 3),
      }),
    },
  },
};

const offerHead = (type: (typeof OFFER_TYPES)[number]): Fields => ({
  offerId: id('Offer identifier, the one that tickets carry.', 'off_7'),
  type: choice([type], 'Type of the offer; it tells which further fields there are.'),
  name: text('Name.', 'Carré or'),
  description: text('Description; may contain markup.', '<p>Les meilleures places.</p>'),
  currency,
  images: texts('Addresses of images.', ['https://images.example.org/or.jpg']),
  tags: texts('Tags.', ['Vente anticipée']),
  minQuantityPerOrder: integer('Least quantity in one order.', 1),
  maxQuantityPerOrder: integer('Greatest quantity in one order.', 8),
  compareAtPrice: number('Price to compare with.', 52),
  createdAt: required(
    timestamp('Time of creation; offers are listed by it, earliest first.', '2026-09-02T09:00:00+02:00'),
  ),
});

const pricing: Fields = {
  pricingId: text('Pricing identifier, the one that tickets carry.', 'prc_71'),
  name: text('Name.', 'Plein tarif'),
  price: number('Price.', 45),
  bundleOfferId: text('Bundle that sells this pricing; null for a pricing of the offer itself.', 'off_90'),
};

const stock: Fields = {
  totalStock: integer('Stock in all.', 220),
  availableStock: integer('Stock left.', 87),
};

const vatRate = number('VAT rate, a fraction.', 0.055);

export const OFFER: Resource = {
  name: 'Offer',
  description: 'An entry of the catalog: tickets for an event, a product, or a bundle of offers.',
  id: 'offerId',
  variants: {
    TICKET: {
      ...offerHead('TICKET'),
      eventId: id('Event of the offer; only TICKET offers report it.', 'evt_42'),
      vatRate,
      defaultMaximumCapacity: integer('Capacity by default.', 220),
      attendeeFormId: text('Form that attendees answer.', 'frm_3'),
      pricing: objects('Pricings.', {
        ...pricing,
        resaleEnabled: boolean('Whether tickets of this pricing may be resold.', true),
      }),
      optionOffers: objects('Options sold with this ticket, each at the pricing named.', {
        offerId: text('The option offer.', 'off_12'),
        pricingId: text("One of that offer's own pricings.", 'prc_121'),
      }),
      inventory: objects('Stock by session.', {
        inventoryId: text('Inventory identifier.', 'inv_7_301'),
        sessionId: text('Session.', 'ses_301'),
        ...stock,
      }),
    },
    PRODUCT: {
      ...offerHead('PRODUCT'),
      vatRate,
      defaultQuantity: integer('Quantity by default.', 1),
      variantOptionLabels: object('Names of the variant options.', {
        option1: text('First.', 'Taille'),
        option2: text('Second.', 'Couleur'),
        option3: text('Third.', 'Matière'),
      }),
      pricing: objects('Pricings.', pricing),
      inventory: objects('Stock by variant.', {
        inventoryId: text('Inventory identifier.', 'inv_30_m'),
        option1: text('First option.', 'M'),
        option2: text('Second option.', 'Noir'),
        option3: text('Third option.', 'Coton'),
        ...stock,
        weightInGrams: integer('Weight in grams.', 180),
      }),
    },
    BUNDLE: {
      ...offerHead('BUNDLE'),
      pricingId: text('Pricing identifier.', 'prc_900'),
      price: number('Price.', 99),
      contains: objects('What the bundle holds.', {
        offerId: text('Offer.', 'off_7'),
        quantity: integer('How many.', 2),
        price: number('Price of one within the bundle.', 40),
      }),
    },
  },
};
