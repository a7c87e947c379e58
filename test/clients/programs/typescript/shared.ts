type Name = 'url' | 'key' | 'from' | 'until' | 'eventId' | 'ticketId' | 'orderId' | 'offerId';

export const given = JSON.parse(process.argv[2] ?? '') as Readonly<Record<Name, string>> & {
  readonly eventIds: string[];
  readonly perPage: number;
};

export const path = {
  event_id: given.eventId,
  ticket_id: given.ticketId,
  order_id: given.orderId,
  offerId: given.offerId,
};

export const filters = {
  eventIds: given.eventIds,
  'updatedAt.gte': given.from,
  'updatedAt.lte': given.until,
  perPage: given.perPage,
};

export function snapshotOf(nextPage: string | null): string {
  return new URL(nextPage ?? '').searchParams.get('snapshot') ?? '';
}

/** Returns the data of a response, which has a body. */
export async function read<T>(response: Promise<{ data?: T | void; error?: unknown }>): Promise<T> {
  const { data, error } = await response;
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}
