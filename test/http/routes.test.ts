import { expect } from 'chai';
import { Routes } from '../../src/http/routes.ts';

describe('Routes', () => {
  const TEMPLATES = ['/v1/events', '/v1/events/{id}', '/v1/events/{id}/sessions', '/v1/a/b', '/'];
  const routes = new Routes(TEMPLATES.map((template) => [template, template]));

  for (const [path, template, parameter] of [
    ['/v1/events', '/v1/events', ''],
    ['/', '/', ''],
    ['/v1/a/b', '/v1/a/b', ''],
    ['/v1/events/7', '/v1/events/{id}', '7'],
    ['/v1/events/sessions', '/v1/events/{id}', 'sessions'],
    ['/v1/events/7/sessions', '/v1/events/{id}/sessions', '7'],
    ['/v1/events/sessions/sessions', '/v1/events/{id}/sessions', 'sessions'],
    ['/v1/events/%C3%A9%2F%20', '/v1/events/{id}', 'é/ '],
    ['/v1/events/a+b', '/v1/events/{id}', 'a+b'],
    ['/v1/events/%2Fsessions/sessions', '/v1/events/{id}/sessions', '/sessions'],
  ] as const) {
    it(`lead from ${path} to ${template}`, () => {
      expect(routes.find(path)).to.deep.equal({ target: template, parameter });
    });
  }

  for (const path of [
    '',
    '//',
    '/v1',
    '/v1/',
    '/V1/events',
    '/v1/events/',
    '/v1/Events/7',
    '/v1/events/7/',
    '/v1/events//sessions',
    '/v1/events/7/sessions/',
    '/v1/events/7/8',
    '/v1/events/7/8/sessions',
    '/v1/events/7/Sessions',
    '/v1/events7/sessions',
    '/v1/eventssessions',
    '/v1/a/b/',
    '/v1/a',
  ]) {
    it(`lead nowhere from ${path}`, () => {
      expect(routes.find(path)).to.equal(undefined);
    });
  }

  for (const path of ['/v1/events/%', '/v1/events/%C3', '/v1/events/%zz/sessions']) {
    it(`take no broken encoding: ${path}`, () => {
      expect(() => routes.find(path)).to.throw(URIError);
    });
  }

  it('have one parameter at most', () => {
    expect(() => new Routes([['/{a}/{b}', 1]])).to.throw(TypeError, '/{a}/{b}');
  });
});
