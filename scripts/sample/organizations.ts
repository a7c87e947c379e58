import { SEASON } from './model.ts';
import type { Profile } from './profile.ts';
import { club } from './profiles/club.ts';
import { festival } from './profiles/festival.ts';
import { theatre } from './profiles/theatre.ts';
import type { Random } from './random.ts';

const PROFILES = [theatre, festival, club];

/** Returns the profiles of the organizations, each with the number of tickets of each of its events. */
export function divideTickets(
  { organizations, events, tickets }: Record<'organizations' | 'events' | 'tickets', number>,
  random: Random,
): { profile: Profile; quotas: number[] }[] {
  const eventCounts = sharesOf(events, Array<number>(organizations).fill(1));
  const all = eventCounts.map((count, position) => {
    const profile = profileAt(position);
    const weights = Array.from(
      { length: count },
      (_, event) => SEASON[event % SEASON.length].popularity * (0.6 + 0.8 * random.fraction()),
    );
    return { profile, weights };
  });
  const shares = sharesOf(
    tickets,
    all.flatMap(({ weights }) => weights),
  );
  return all.map(({ profile, weights }) => ({ profile, quotas: shares.splice(0, weights.length) }));
}

/** Returns the profile of the organization at `position`: each in turn, from the fourth on as branches elsewhere. */
function profileAt(position: number): Profile {
  const profile = PROFILES[position % PROFILES.length];
  const round = Math.floor(position / PROFILES.length);
  if (round === 0) return profile;
  const place = profile.branches[(round - 1) % profile.branches.length];
  const again = Math.floor((round - 1) / profile.branches.length);
  return {
    ...profile,
    organizationId: `${profile.organizationId}-${round + 1}`,
    name: `${profile.name} — ${place}${again === 0 ? '' : ` ${again + 1}`}`,
  };
}

/**
 * Divides a whole number into whole shares in proportion to `weights`, which are not all zero. The shares add up to
 * `total`: the largest remainders are rounded up, ties in order.
 */
function sharesOf(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const exact = weights.map((weight) => (total * weight) / sum);
  const shares = exact.map(Math.floor);
  const left = total - shares.reduce((a, b) => a + b, 0);
  const byRemainder = exact
    .map((share, index) => ({ index, remainder: share - shares[index] }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  for (const { index } of byRemainder.slice(0, left)) shares[index]++;
  return shares;
}
