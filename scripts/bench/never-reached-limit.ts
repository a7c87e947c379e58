/** Requests a minute: the limit is on, counts and sends its headers, and refuses nobody. The most that Foyer takes. */
export const NEVER_REACHED_LIMIT = 1_000_000_000;
