import { names, type Profile, towns } from '../profile.ts';

/** A music hall in New York. */
export const club: Profile = {
  organizationId: 'blue-heron-hall',
  name: 'Blue Heron Hall',
  branches: ['Queens', 'Newark', 'New Haven', 'Providence', 'Montauk'],
  zone: 'America/New_York',
  countryCode: 'US',
  currency: { code: 'USD', minorUnits: 100 },
  priceStep: 75,
  taxRate: 0.08875,
  orderNumberPrefix: 'BHH',
  invoicePrefix: 'INV-',
  places: {
    house: { name: 'Blue Heron Hall', address: ['128 Canal Street', 'Floor 2', 'New York', '10002', 'US'] },
    away: { name: 'Delmar Playhouse', address: ['40 Grove Street', null, 'Hoboken', '07030', 'US'] },
    tour: {
      name: 'The Fog Loft',
      address: ['3 Victoria Street', null, "St. John's", 'A1C 3V2', 'CA'],
      zone: 'America/St_Johns',
    },
    town: { name: 'The Old Boiler House, corner of 5th & Union (ring twice, stairs down)' },
    online: {},
  },
  productions: {
    play: ['Tuesday to Saturday: The Delmar Quartet', 'Post-bop, with a guest.', 'Jazz', 'Residency', 'Live'],
    gala: ['Late Set', null, 'Jazz', 'Late  Night', 'Live'],
    tales: ['Peter and the Theremin', 'From age 4.', 'family friendly', 'Workshop'],
    online: ['Members’ Listening Room', 'One record, both sides, in the dark.', 'Listening', 'Online'],
    run: ['Swing Nights', 'Big band and dance floor.', 'Dance', 'Jazz', 'live'],
    tour: ['Newfoundland Nights', 'Fiddles, accordions and fog.', 'Folk', 'Live', 'On tour'],
  },
  offers: {
    best: ['Table for dinner', '<p>Seated from 7 pm; <em>two drinks</em> included.</p>'],
    good: ['Mezzanine', '<p>Seats with a view of the stage.</p>'],
    cheap: ['Balcony'],
    standing: ['Standing', '<ul><li>Doors 20 minutes before</li><li>Coats at the bar</li></ul>'],
    stream: ['Stream'],
    talk: ['Meet the band', '<p>Forty minutes, twelve people.</p>'],
    workshop: ['Theremin workshop'],
    book: ['Season programme', '<p>64 pages, with a <em>flexi disc</em>.</p>'],
    shirt: ['Heron T-shirt'],
    duo: ['Dinner for two', '<p>Two seats at a table and the programme.</p>'],
    pass: ['Heron season pass', '<p>Three nights at <strong>one price</strong>.</p>'],
  },
  blocs: {
    best: ['Floor left', 'Floor right'],
    good: ['Mezzanine'],
    cheap: ['Balcony'],
    standing: ['Floor'],
  },
  rates: ['General admission', 'Senior', 'Student', 'Member'],
  shopRate: 'Shop price',
  withTicketRate: 'With a ticket',
  optionLabels: ['Size', 'Color', 'Fabric'],
  variants: [
    ['S', 'Natural', 'Cotton'],
    ['M', 'Indigo', 'Cotton'],
    ['L', 'Indigo', 'Linen'],
  ],
  form: {
    formId: 'form_guest',
    fields: {
      dietary: ['None', 'Vegetarian', 'Vegan', 'Nut allergy', 'Halal', 'Kosher'],
      badge_name: ['As on ticket', 'First name only'],
      topics: ['Acoustics', 'Archives', 'Synthesis', 'Field recording'],
    },
    multiple: ['dietary', 'topics'],
  },
  discounts: [
    { code: 'HERON20', percent: 20 },
    { code: 'FIRST-TIMER', percent: 12 },
  ],
  salesChannels: [
    { salesChannelId: 'web', salesChannelName: 'blueheron.example.com', issuanceChannel: 'ONLINE' },
    { salesChannelId: 'app', salesChannelName: 'Heron app', issuanceChannel: 'MOBILE_APP' },
    { salesChannelId: 'door', salesChannelName: 'Door', issuanceChannel: 'BOX_OFFICE' },
  ],
  carriers: { home: 'usps_first_class', pickup: 'locker_network' },
  pickupPoints: [['locker-77', 'Canal Street lockers', '77 Canal Street', 'New York', '10002']],
  insurance: { serviceId: 'svc_protect', serviceName: 'Ticket Protect' },
  donation: { serviceId: 'svc_education', serviceName: 'Education fund' },
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
