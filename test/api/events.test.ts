import { expect } from 'chai';
import { HARD_ID } from '../support/api-fixture.ts';
import { givenApi } from '../support/test-api.ts';

describe('Events', () => {
  const given = givenApi();

  // evt_b and evt_d were created at the same instant, evt_c a microsecond later.
  const ALL = ['evt_c', 'evt_b', 'evt_d', 'evt_a', HARD_ID];

  it('are listed latest created first, ties by id', async () => {
    expect(await given.api.ids('/v1/events')).to.deep.equal(ALL);
  });

  it('are those of the organization alone', async () => {
    expect(await given.api.ids('/v1/events', { as: 'south' })).to.deep.equal(['evt_south', 'evt_a']);
  });

  const filters: [query: string, ids: string[]][] = [
    // evt_a starts at the same instant as evt_c, in another notation.
    ['startAt.gte=2027-01-01T19:00:00Z&startAt.lte=2027-01-01T19:00:00Z', ['evt_c', 'evt_a']],
    [
      'startAt.gte=2027-01-01T20:00%2B01:00&startAt.lte=2027-01-01T20:00:00.0000009%2B01:00',
      ['evt_c', 'evt_a'],
    ],
    ['startAt.gte=2027-01-01T19:00:00.000001Z', ['evt_d', 'evt_a', HARD_ID]],
    ['startAt.lte=2026-06-01T00:00:00Z', ['evt_b']],
    // evt_a and evt_d have sessions before and after the window, but none in it.
    ['startAt.gte=2027-02-02T00:00:00Z&startAt.lte=2027-02-28T00:00:00Z', []],
    ['startAt.gte=2027-03-01T00:00:00Z&startAt.lte=2027-01-01T00:00:00Z', []],
    ['tags=th%C3%A9%C3%A2tre', ['evt_a']],
    ['tags=THE%CC%81A%CC%82TRE', ['evt_a']],
    ['tags=Theatre', ['evt_b']],
    ['tags=+hip++hop+', ['evt_a']],
    ['tags=theatre,%20r%26b', ['evt_b', 'evt_d']],
    ['tags=theatre,theatre', ['evt_b']],
    ['tags=salsa', []],
    ['tags=hip,hop', []],
    ['tags=theatre,th%C3%A9%C3%A2tre&startAt.gte=2027-01-01T00:00:00Z', ['evt_a']],
  ];
  for (const [query, ids] of filters) {
    it(`filtered by ${decodeURIComponent(query)} are ${ids.join(', ') || 'none'}`, async () => {
      expect(await given.api.ids(`/v1/events?${query}`)).to.deep.equal(ids);
    });
  }

  const refused: [query: string, loc: string, word: string][] = [
    ['startAt.gte=2027-01-01', 'query.startAt.gte', 'ISO 8601'],
    ['startAt.gte=2027-02-30T00:00:00Z', 'query.startAt.gte', 'ISO 8601'],
    ['startAt.lte=2027-01-01T20:00:00+01:00', 'query.startAt.lte', '%2B'],
    ['startAt.lte=', 'query.startAt.lte', 'ISO 8601'],
    ['tags=', 'query.tags', 'empty'],
    ['tags=a,,b', 'query.tags', 'empty'],
    ['tags=a,+', 'query.tags', 'empty'],
    ['tags=1,2,3,4,5,6,7,8,9,10,1', 'query.tags', 'at most 10'],
  ];
  for (const [query, loc, word] of refused) {
    it(`filtered by ${query} are refused`, async () => {
      const { status, body } = await given.api.send(`/v1/events?${query}`);
      expect(status).to.equal(400);
      expect(body.errors).to.have.length(1);
      expect(body.errors[0]).to.have.property('loc', loc);
      expect(body.errors[0].ctx).to.include(word);
    });
  }

  it('accept ten tags', async () => {
    expect(await given.api.ids('/v1/events?tags=1,2,3,4,5,6,7,8,9,theatre')).to.deep.equal(['evt_b']);
  });

  it('are served with all fields, absent ones as null', async () => {
    const { status, body } = await given.api.send('/v1/events/evt_a');
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      id: 'evt_a',
      createdAt: '2026-09-01T08:00:00Z',
      updatedAt: '2026-11-01T09:00:00Z',
      title: 'Event evt_a',
      description: null,
      imageUrl: null,
      venueName: null,
      venueAddress: {
        addressLine1: '1 quai',
        addressLine2: null,
        city: 'Rennes',
        postalCode: '35000',
        countryCode: 'FR',
      },
      eventTimezone: 'Europe/Paris',
      currency: 'EUR',
      tags: ['Théâtre', 'Hip  Hop'],
      sessionCount: 2,
      firstSessionStartAt: '2027-01-01T20:00:00+01:00',
      lastSessionStartAt: '2027-02-01T20:00:00+01:00',
      nextSessionStartAt: '2027-01-01T20:00:00+01:00',
      nextSessionId: 'ses_a1',
    });
  });

  it('are equal alone and in the list', async () => {
    const { body: list } = await given.api.send('/v1/events');
    for (const item of list.items) {
      const { body } = await given.api.send(`/v1/events/${encodeURIComponent(String(item['id']))}`);
      expect(body).to.deep.equal(item);
    }
  });
});

describe('Event sessions', () => {
  const given = givenApi();

  it('are those of the event, in order of start', async () => {
    const { body } = await given.api.send('/v1/events/evt_a/sessions');
    expect(body.items).to.deep.equal([
      { id: 'ses_a1', startAt: '2027-01-01T20:00:00+01:00', durationMinutes: 90 },
      { id: 'ses_a2', startAt: '2027-02-01T20:00:00+01:00', durationMinutes: 90 },
    ]);
  });

  const start = '2027-01-01T20:00:00%2B01:00';
  const filters: [query: string, ids: string[]][] = [
    [`startAt.gte=${start}`, ['ses_a1', 'ses_a2']],
    [`startAt.gt=${start}`, ['ses_a2']],
    [`startAt.lte=${start}`, ['ses_a1']],
    [`startAt.lt=${start}`, []],
    [`startAt.gt=${start}&startAt.gte=${start}`, ['ses_a2']],
    [`startAt.lt=2027-02-01T19:00:00Z&startAt.lte=2027-02-01T19:00:00Z`, ['ses_a1']],
  ];
  for (const [query, ids] of filters) {
    it(`filtered by ${query} are ${ids.join(', ') || 'none'}`, async () => {
      expect(await given.api.ids(`/v1/events/evt_a/sessions?${query}`)).to.deep.equal(ids);
    });
  }

  it('of an event that is missing or of another organization are 404', async () => {
    const missing = await given.api.send('/v1/events/evt_none/sessions');
    const foreign = await given.api.send('/v1/events/evt_south/sessions');
    expect([missing.status, foreign.status]).to.deep.equal([404, 404]);
    expect(foreign.text).to.equal(missing.text);
  });

  it('are validated before the event is looked up, and the event before the page', async () => {
    expect(await given.api.send('/v1/events/evt_none/sessions?page=0')).to.have.property('status', 400);
    expect(await given.api.send('/v1/events/evt_none/sessions?page=9')).to.have.property('status', 404);
  });
});
