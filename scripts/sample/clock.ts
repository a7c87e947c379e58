import { DateTime } from 'luxon';

/** Seconds since 1970-01-01T00:00:00Z. The sample computes with whole seconds; fractions are only written. */
export type Seconds = number;

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

interface Offset {
  readonly seconds: number;
  readonly text: string;
}

/** The clock on a venue's wall: writes instants with the offset of its zone at that moment. */
export class ZoneClock {
  readonly zone: string;
  /** By day of UTC, since asking luxon for each timestamp would cost more than all the rest of a ticket. */
  readonly #offsets = new Map<number, Offset | 'changes'>();

  /** @param zone an identifier of the IANA time zone database. */
  constructor(zone: string) {
    this.zone = zone;
  }

  /** ISO 8601 with offset; `fraction` is '' or a point and digits. */
  write(instant: Seconds, fraction = ''): string {
    const offset = this.#offsetOn(Math.floor(instant / DAY));
    const { seconds, text } = offset === 'changes' ? this.#offsetAt(instant) : offset;
    return isoSeconds(instant + seconds) + fraction + text;
  }

  #offsetOn(day: number): Offset | 'changes' {
    let offset = this.#offsets.get(day);
    if (offset === undefined) {
      const first = this.#offsetAt(day * DAY);
      offset = this.#offsetAt((day + 1) * DAY).seconds === first.seconds ? first : 'changes';
      this.#offsets.set(day, offset);
    }
    return offset;
  }

  #offsetAt(instant: Seconds): Offset {
    const local = DateTime.fromSeconds(instant, { zone: this.zone });
    return { seconds: local.offset * MINUTE, text: local.toFormat('ZZ') };
  }
}

/** ISO 8601 in UTC with `Z`; `fraction` as above. */
export function writeUtc(instant: Seconds, fraction = ''): string {
  return isoSeconds(instant) + fraction + 'Z';
}

function isoSeconds(instant: Seconds): string {
  return new Date(instant * 1000).toISOString().slice(0, 19);
}
