import type { Bytes } from '../store/shared.ts';
import type { OfferView } from './plan.ts';

/** The parts of a stored offer that a view looks at. */
interface StoredOffer {
  readonly type: string;
  readonly pricing?: readonly { readonly resaleEnabled?: boolean | null }[];
  readonly inventory?: readonly { readonly sessionId?: string | null }[];
}

/** The JSON text of an offer cut down to a view. Only TICKET offers are cut. */
export function cutOffer(record: Bytes, { inventoryOf, resaleEnabled }: OfferView): Bytes {
  const offer = JSON.parse(Buffer.from(record).toString()) as StoredOffer;
  if (offer.type !== 'TICKET') return record;
  return Buffer.from(
    JSON.stringify({
      ...offer,
      ...(resaleEnabled !== undefined && {
        pricing: offer.pricing?.filter((pricing) => pricing.resaleEnabled === resaleEnabled),
      }),
      ...(inventoryOf !== undefined && {
        inventory: offer.inventory?.filter(({ sessionId }) => sessionId === inventoryOf),
      }),
    }),
  );
}
