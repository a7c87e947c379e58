import { type Category, names, NO_VENUE, type Profile, towns } from '../profile.ts';

const house = {
  name: 'Blue Heron Hall',
  address: ['128 Canal Street', 'Floor 2', 'New York', '10002', 'US'],
} as const;

const floor: Category = {
  name: 'Standing',
  price: 2500,
  compareAtPrice: 3000,
  seating: { area: 'Floor' },
};

const table: Category = {
  name: 'Table for dinner',
  description: '<p>Seated from 7 pm; two drinks included.</p>',
  price: 7250,
  seating: { blocs: ['Mezzanine'], rows: 18, seatsPerRow: 4, rowNames: 'numbers' },
};

/** A music hall with an exhibition and a conference: free seating, summer time, venues in other zones. */
export const club: Profile = {
  organizationId: 'blue-heron-hall',
  name: 'Blue Heron Hall',
  branches: ['Queens', 'Newark', 'New Haven', 'Providence', 'Montauk'],
  imageFolder: 'blue-heron',
  zone: 'America/New_York',
  currency: { code: 'USD', minorUnits: 100 },
  countryCode: 'US',
  orderNumberPrefix: 'BHH',
  invoicePrefix: 'INV-',
  taxRate: 0.08875,
  priceStep: 25,
  serviceFeePerTicket: 275,
  rates: [
    { name: 'General admission', percent: 100, resale: true },
    { name: 'Student', percent: 60, resale: false },
    { name: 'Member', percent: 0, resale: false },
  ],
  shopRate: 'Shop price',
  withTicketRate: 'With a ticket',
  house,
  productions: [
    {
      title: 'After Hours: A History of Night Music',
      description: 'An exhibition in six rooms, with instruments you may touch.',
      image: 'after-hours',
      venue: { ...house, name: 'Blue Heron Hall, East Gallery' },
      tags: ['Exhibition', 'Museum', 'family friendly'],
      schedule: { firstDay: -24, sessions: 40, weekdays: '34567', times: '11:00', minutes: 90 },
      popularity: 4,
      categories: [
        {
          name: 'Timed entry',
          description: '<p>Arrive within 30 minutes of the time on your ticket.</p>',
          price: 1800,
        },
      ],
      extras: [
        {
          name: 'Curator’s tour',
          description: '<p>Forty minutes, twelve people.</p>',
          pricings: [{ name: 'Tour with timed entry', price: 1200 }],
        },
      ],
    },
    {
      title: 'Late Set: The Delmar Quartet',
      description: 'Two nights of post-bop.',
      image: 'delmar',
      venue: { name: 'The Old Boiler House, corner of 5th & Union (ring twice, stairs down)' },
      tags: ['Jazz', 'Late  Night', 'Live'],
      schedule: { firstDay: -100, sessions: 2, weekdays: '56', times: '22:30', minutes: 120 },
      popularity: 3,
      categories: [floor, table],
    },
    {
      title: 'Midwinter Makers’ Conference',
      description: 'In San Francisco; delegates are told the place a week ahead.',
      venue: { ...NO_VENUE, zone: 'America/Los_Angeles' },
      tags: ['Conference', 'Synths', 'Workshop'],
      schedule: { firstDay: 84, sessions: 1, weekdays: '4', times: '09:00', minutes: 960 },
      popularity: 2,
      categories: [
        {
          name: 'Delegate pass',
          description: '<ul><li>All talks</li><li>Lunch on both days</li></ul>',
          price: 24900,
          compareAtPrice: 29900,
          form: {
            formId: 'form_delegate',
            fields: {
              company: ['Acme Audio', 'Freelance', 'Quill & Co.', 'Public radio', 'O’Brien Studios'],
              dietary: ['None', 'Vegetarian', 'Vegan', 'Nut allergy', 'Halal', 'Kosher'],
              badge_name: ['As on ticket', 'First name only'],
              topics: ['Acoustics', 'Archives', 'Synthesis', 'Field recording'],
            },
            multiple: ['dietary', 'topics'],
          },
        },
      ],
      extras: [
        {
          name: 'Workshop: building a ribbon microphone',
          pricings: [{ name: 'Workshop seat', price: 4500 }],
        },
      ],
    },
    {
      title: 'Newfoundland Nights',
      description: 'Fiddles, accordions and fog.',
      image: 'fog',
      venue: {
        name: 'The Fog Loft',
        address: ['3 Victoria Street', null, "St. John's", 'A1C 3V2', 'CA'],
        zone: 'America/St_Johns',
      },
      tags: ['Folk', 'Live', 'On tour'],
      schedule: { firstDay: 12, sessions: 3, weekdays: '456', times: '20:15', minutes: 135 },
      popularity: 2,
      categories: [floor],
    },
    {
      title: 'Members’ Listening Room',
      description: 'One record, both sides, in the dark. Streamed.',
      venue: NO_VENUE,
      tags: ['Listening', 'Online'],
      schedule: { firstDay: -60, sessions: 16, weekdays: '1', times: '19:00', minutes: 60 },
      popularity: 1,
      categories: [{ name: 'Stream', price: 600 }],
    },
    {
      title: 'Spring Swing',
      description: 'Big band and dance floor, lesson at seven.',
      image: 'swing',
      tags: ['Dance', 'Jazz', 'live'],
      schedule: { firstDay: 112, sessions: 8, weekdays: '6', times: '19:00', minutes: 210 },
      popularity: 3,
      categories: [floor, table],
    },
    {
      title: 'Desert Sessions',
      description: 'Three afternoons among saguaros.',
      image: 'desert',
      venue: { name: 'Mile marker 42, State Route 86 (look for the water tower)', zone: 'America/Phoenix' },
      tags: ['Live', 'Outdoors'],
      schedule: { firstDay: -19, sessions: 3, weekdays: '567', times: '16:00', minutes: 300 },
      popularity: 2,
      categories: [floor],
    },
    {
      title: 'Tuesday Residency',
      description: 'The house trio and a guest.',
      image: 'tuesday',
      tags: ['Jazz', 'Residency', 'Live'],
      schedule: { firstDay: -150, sessions: 52, weekdays: '2', times: '20:00 22:00', minutes: 80 },
      popularity: 5,
      categories: [floor, table],
    },
  ],
  merchandise: [
    {
      name: 'Exhibition catalogue',
      description: '<p>212 pages, with a <em>flexi disc</em>.</p>',
      price: 3900,
      priceWithTicket: 3200,
      images: ['catalogue'],
      tags: ['Book'],
      optionLabels: ['Binding'],
      variants: [
        [810, 'Paperback'],
        [1150, 'Cloth'],
      ],
      productions: [0],
    },
    {
      name: 'Heron tote bag',
      price: 1495,
      compareAtPrice: 1995,
      tags: ['Merch', 'Gift idea'],
      optionLabels: ['Color', 'Handles'],
      variants: [
        [120, 'Natural', 'Short'],
        [135, 'Indigo', 'Long'],
      ],
    },
  ],
  packages: [
    {
      name: 'Day out for two',
      description: '<p>Two timed entries and the catalogue.</p>',
      percent: 88,
      productions: [0],
      ticketsEach: 2,
      merchandise: 0,
      images: ['day-out'],
      tags: ['For two'],
    },
    {
      name: 'Heron season pass',
      percent: 70,
      productions: [0, 1, 5, 7],
      ticketsEach: 1,
      tags: ['Pass', 'season'],
    },
  ],
  discounts: [
    { code: 'HERON20', percent: 20 },
    { code: 'FIRST-TIMER', percent: 12 },
  ],
  salesChannels: [
    { salesChannelId: 'web', salesChannelName: 'blueheron.example.com', issuanceChannel: 'ONLINE' },
    { salesChannelId: 'app', salesChannelName: 'Heron app', issuanceChannel: 'MOBILE_APP' },
    { salesChannelId: 'door', salesChannelName: 'Door', issuanceChannel: 'BOX_OFFICE' },
  ],
  payments: [
    { provider: 'stripe', method: 'card' },
    { provider: 'adyen', method: 'apple_pay' },
    { provider: 'paypal', method: 'paypal' },
  ],
  homeDelivery: { carrierId: 'usps_first_class', fee: 695 },
  pickup: {
    carrierId: 'locker_network',
    fee: 0,
    points: [['locker-77', 'Canal Street lockers', '77 Canal Street', 'New York', '10002']],
  },
  insurance: { serviceId: 'svc_protect', serviceName: 'Ticket Protect', percent: 7 },
  donation: { serviceId: 'svc_education', serviceName: 'Education fund', amounts: [100, 300, 1000] },
  optIns: ['newsletter', 'sms_reminders', 'partner_offers'],
  population: {
    firstNames: names(
      'Ava Noah Mia Liam Zora Ethan Renée José Maya Owen Priya Caleb Siobhán Marcus Lucía Hank Imani Theo',
    ),
    lastNames: names(
      'Smith Johnson O’Brien Martínez Nguyen Kowalski Baker Okafor Rivera Goldberg Ødegaard Patel Hughes D’Angelo Chen Walker',
    ),
    streets: ['% Maple Street', '% W 44th St', '% Avenue C', '% Old Mill Road', '% Bedford Ave'],
    addressLines2: ['Apt 4B', 'Unit 12', 'c/o The Heron Shop'],
    towns: towns('New York 10009, Brooklyn 11211, Jersey City 07302, Hoboken 07030, Boston 02118'),
    companies: [
      { companyName: 'Quill & Co. LLC', vatNumber: '00-0000001' },
      { companyName: 'Acme Audio, Inc.', vatNumber: '00-0000002' },
    ],
    phone: '+1 212-555-01##', // the range reserved for fiction
  },
};
