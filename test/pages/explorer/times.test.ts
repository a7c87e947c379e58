import { expect } from 'chai';
import {
  calendarLeaf,
  dayIn,
  formatDistance,
  formatPrecisely,
  formatSession,
  partsOfTimestamp,
  timestampOf,
  zoneOrUtc,
} from '../../../src/pages/explorer/times.js';

describe('A field for a date and time', () => {
  it('gets the offset of its zone at that time', () => {
    expect(timestampOf('2026-07-01T20:00', 'America/New_York')).to.equal('2026-07-01T20:00-04:00');
    expect(timestampOf('2026-12-01T20:00', 'America/New_York')).to.equal('2026-12-01T20:00-05:00');
    expect(timestampOf('2026-12-01T20:00', 'America/St_Johns')).to.equal('2026-12-01T20:00-03:30');
    expect(timestampOf('2026-12-01T20:00', 'UTC')).to.equal('2026-12-01T20:00+00:00');
  });

  it('gets the right offset on both sides of a clock change', () => {
    expect(timestampOf('2026-10-25T01:30', 'Europe/Paris')).to.equal('2026-10-25T01:30+02:00');
    expect(timestampOf('2026-10-25T03:30', 'Europe/Paris')).to.equal('2026-10-25T03:30+01:00');
    expect(timestampOf('2026-03-29T01:30', 'Europe/Paris')).to.equal('2026-03-29T01:30+01:00');
    expect(timestampOf('2026-03-29T03:30', 'Europe/Paris')).to.equal('2026-03-29T03:30+02:00');
  });

  it('keeps an offset as it was given', () => {
    expect(timestampOf('2026-07-01T20:00', '+05:45')).to.equal('2026-07-01T20:00+05:45');
    expect(timestampOf('2026-07-01T20:00', 'Z')).to.equal('2026-07-01T20:00Z');
  });

  it('shows a timestamp of a link, unless the field cannot hold it', () => {
    expect(partsOfTimestamp('2026-09-01T00:00:00+02:00')).to.deep.equal({
      wall: '2026-09-01T00:00:00',
      offset: '+02:00',
    });
    expect(partsOfTimestamp('2026-09-01T00:00:00.1234Z')).to.equal(undefined);
    expect(partsOfTimestamp('yesterday')).to.equal(undefined);
  });
});

describe('A timestamp of a record', () => {
  it('is shown in its own offset', () => {
    const start = '2026-12-03T20:15:00-03:30';
    expect(formatSession(start)).to.equal('Thu, 3 Dec 2026, 20:15');
    expect(formatPrecisely(start)).to.equal('3 Dec 2026, 20:15:00 UTC−03:30');
    expect(calendarLeaf(start)).to.deep.equal({ day: '3', month: 'Dec', year: '2026' });
    expect(formatPrecisely('2026-05-20T11:03:21.123456Z')).to.equal('20 May 2026, 11:03:21 UTC');
  });

  it('is shown with its distance from now', () => {
    const now = Date.parse('2026-06-01T00:00:00Z');
    expect(formatDistance('2026-06-04T00:00:00Z', now)).to.equal('in 3 days');
    expect(formatDistance('2026-05-31T22:00:00Z', now)).to.equal('2 hours ago');
    expect(formatDistance('2026-06-01T00:00:20Z', now)).to.equal('this minute');
  });

  it('counts for the day of the venue, or in UTC where the browser does not know the time zone', () => {
    expect(dayIn('America/New_York')('2026-06-01T02:00:00Z')).to.equal('2026-05-31');
    expect(dayIn('UTC')('0001-01-01T00:00:00Z')).to.equal('0001-01-01');
    const zones = [null, 'Europe/Nowhere', 'Europe/Paris'].map(zoneOrUtc);
    expect(zones).to.deep.equal(['UTC', 'UTC', 'Europe/Paris']);
  });
});
