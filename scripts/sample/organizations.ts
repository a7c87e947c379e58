import type { Profile } from './profile.ts';
import { club } from './profiles/club.ts';
import { festival } from './profiles/festival.ts';
import { theatre } from './profiles/theatre.ts';

const PROFILES = [theatre, festival, club];

export interface Organization {
  readonly organizationId: string;
  readonly name: string;
  readonly profile: Profile;
}

/** The organization at `position`: the three kinds in turn, from the fourth on as branches in other places. */
export function organizationAt(position: number): Organization {
  const profile = PROFILES[position % PROFILES.length];
  const round = Math.floor(position / PROFILES.length);
  if (round === 0) return { organizationId: profile.organizationId, name: profile.name, profile };
  const place = profile.branches[(round - 1) % profile.branches.length];
  const again = Math.floor((round - 1) / profile.branches.length);
  return {
    organizationId: `${profile.organizationId}-${round + 1}`,
    name: `${profile.name} — ${place}${again === 0 ? '' : ` ${again + 1}`}`,
    profile,
  };
}
