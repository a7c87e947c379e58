import { type Buyer, deliveryAddress } from './customers.ts';
import { Deck } from './deck.ts';
import { percentOf } from './money.ts';
import type { Profile, SalesChannel } from './profile.ts';
import type { Random } from './random.ts';

type Delivery = 'home_delivery' | 'pickup_point' | 'on_site';
type AddOn = 'INSURANCE' | 'DONATION';

/** The choices a buyer makes beside the items: where to buy, how to get the tickets, how to pay. */
export class Checkout {
  readonly #random: Random;
  readonly #channels: Deck<number>;
  readonly #deliveries: Deck<Delivery>;
  readonly #addOns: Deck<readonly AddOn[]>;

  constructor(random: Random) {
    this.#random = random;
    this.#channels = new Deck(random, [
      [0, 6],
      [1, 2],
      [2, 1],
    ]);
    this.#deliveries = new Deck<Delivery>(random, [
      ['on_site', 6],
      ['home_delivery', 1],
      ['pickup_point', 1],
    ]);
    this.#addOns = new Deck<readonly AddOn[]>(random, [
      [[], 8],
      [['INSURANCE'], 2],
      [['DONATION'], 1],
      [['INSURANCE', 'DONATION'], 1],
    ]);
  }

  channel({ salesChannels }: Profile): SalesChannel {
    return salesChannels[this.#channels.draw()];
  }

  /** The order's `delivery` and its fee in minor units. */
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
        return { fee, record: { ...none, carrierId, pickupPoint: this.#random.pick(points) } };
      }
    }
  }

  /** Add-ons with their prices in minor units; none that would cost nothing. */
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

  /** How it is paid; cash has no provider. */
  payment({ payments }: Profile, channel: SalesChannel): { provider: string | null; method: string } {
    const cash = channel.issuanceChannel === 'BOX_OFFICE' && this.#random.chance(0.5);
    return cash ? { provider: null, method: 'cash' } : this.#random.pick(payments);
  }
}
