import type { Population, Profile } from './profile.ts';
import { Random, scramble } from './random.ts';

const MAIL_HOSTS = ['example.com', 'example.org', 'example.net'];

/** Shares of customers without a name, and of customers who buy for a company. */
const NAMELESS = 0.03;
const FOR_A_COMPANY = 0.08;

/** The customers of an organization. Each is derived from its number, so that none is kept in memory. */
export class Customers {
  readonly #profile: Profile;
  readonly #salt: number;
  readonly #count: number;

  /** @param count at least 1 */
  constructor(profile: Profile, count: number, random: Random) {
    this.#profile = profile;
    this.#salt = random.uint32();
    this.#count = count;
  }

  /** Draws a customer; low numbers return more often. */
  draw(random: Random) {
    return this.#at(Math.floor(this.#count * random.fraction() ** 1.5));
  }

  #at(number: number) {
    const code = (scramble(number) ^ this.#salt) >>> 0;
    const random = new Random(code);
    const { population, countryCode } = this.#profile;
    const [firstName, firstLatin] = random.pick(population.firstNames);
    const [lastName, lastLatin] = random.pick(population.lastNames);
    const isNamed = !random.chance(NAMELESS);
    const name = isNamed ? { firstName, lastName } : { firstName: null, lastName: null };
    const company = random.chance(FOR_A_COMPANY) ? random.pick(population.companies) : null;
    const customer = {
      customerId: `cus_${code.toString(16).padStart(8, '0')}`,
      email: mailAddress(isNamed ? `${firstLatin}.${lastLatin}` : 'guest', number, random),
      ...name,
    };
    const phone = random.chance(0.6) ? withDigits(population.phone, random) : null;
    const deliveryAddress = {
      type: company ? 'company' : 'personal',
      ...name,
      ...place(population, countryCode, random),
    };
    const { companyName, vatNumber } = company ?? { companyName: null, vatNumber: null };
    return {
      customer,
      deliveryAddress,
      billingAddress: { ...deliveryAddress, companyName, vatNumber, phone },
    };
  }
}

export type Buyer = ReturnType<Customers['draw']>;

function place(population: Population, countryCode: string, random: Random) {
  const { city, postalCode } = random.pick(population.towns);
  return {
    addressLine1: random.pick(population.streets).replace('%', String(random.between(1, 240))),
    addressLine2: random.chance(0.25) ? random.pick(population.addressLines2) : null,
    city,
    postalCode,
    countryCode,
  };
}

/** Returns a unique address; some have a `+` tag, some a capital, as people type them. */
function mailAddress(local: string, number: number, random: Random): string {
  const tag = random.chance(0.08) ? '+tickets' : '';
  const address = `${local}.${number}${tag}@${random.pick(MAIL_HOSTS)}`;
  return random.chance(0.06) ? address[0].toUpperCase() + address.slice(1) : address;
}

function withDigits(pattern: string, random: Random): string {
  return pattern.replaceAll('#', () => String(random.below(10)));
}
