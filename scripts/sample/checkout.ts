import { type Buyer, deliveryAddress } from './customers.ts';
import { percentOf } from './money.ts';
import type { Profile, SalesChannel } from './profile.ts';
import { type Random, ShuffleBag } from './random.ts';

type Delivery = 'home_delivery' | 'pickup_point' | 'on_site';
type AddOn = 'INSURANCE' | 'DONATION';

/** Draws the choices of an order beside its lines: sales channel, delivery, add-ons and payment. */
export class Checkout {
  readonly #random: Random;
  readonly #channels: ShuffleBag<number>;
  readonly #deliveries: ShuffleBag<Delivery>;
  readonly #addOns: ShuffleBag<readonly AddOn[]>;

  constructor(random: Random) {
    this.#random = random;
    this.#channels = new ShuffleBag(random, [
      [0, 6],
      [1, 2],
      [2, 1],
    ]);
    this.#deliveries = new ShuffleBag<Delivery>(random, [
      ['on_site', 6],
      ['home_delivery', 1],
      ['pickup_point', 1],
    ]);
    this.#addOns = new ShuffleBag<readonly AddOn[]>(random, [
      [[], 8],
      [['INSURANCE'], 2],
      [['DONATION'], 1],
      [['INSURANCE', 'DONATION'], 1],
    ]);
  }

  channel({ salesChannels }: Profile): SalesChannel {
    return salesChannels[this.#channels.draw()];
  }

  /** Draws the order's `delivery` and its fee in minor units. */
  delivery(profile: Profile, channel: SalesChannel, buyer: Buyer) {
    const type = channel.issuanceChannel === 'BOX_OFFICE' ? 'on_site' : this.#deliveries.draw();
    const none = { type, carrierId: null, homeDeliveryAddress: null, pickupPoint: null };
    switch (type) {
      case 'on_site':
        return { fee: 0, record: none };
      case 'home_delivery': {
        const { carrierId, fee } = profile.homeDelivery;
        return { fee, record: { ...none, carrierId, homeDeliveryAddress: deliveryAddress(buyer) } };
      }
      case 'pickup_point': {
        const { carrierId, fee, points } = profile.pickup;
        const [pickupPointId, name, addressLine1, city, postalCode] = this.#random.pick(points);
        const { countryCode } = profile;
        const pickupPoint = { pickupPointId, name, addressLine1, city, postalCode, countryCode };
        return { fee, record: { ...none, carrierId, pickupPoint } };
      }
    }
  }

  /** Draws add-ons with their prices in minor units. Free ones are left out. */
  addOns({ insurance, donation }: Profile, subtotalPaid: number) {
    return this.#addOns.draw().flatMap((category) => {
      const { serviceId, serviceName } = category === 'INSURANCE' ? insurance : donation;
      const price =
        category === 'INSURANCE'
          ? percentOf(subtotalPaid, insurance.percent)
          : this.#random.pick(donation.amounts);
      return price > 0 ? [{ category, serviceId, serviceName, price }] : [];
    });
  }

  /** Draws a payment; cash has no provider. */
  payment({ payments }: Profile, channel: SalesChannel): { provider: string | null; method: string } {
    const cash = channel.issuanceChannel === 'BOX_OFFICE' && this.#random.chance(0.5);
    return cash ? { provider: null, method: 'cash' } : this.#random.pick(payments);
  }
}
