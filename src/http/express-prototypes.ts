import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';

/**
 * Creates message classes for `http.createServer` whose prototypes are already those of an app. Express sets the
 * prototype of every request and response, and V8 runs slower code for objects whose prototype changes. With these
 * classes, Express sets the prototype that the object has. Without them, throughput is 0.92 times for one ticket and
 * 0.60 times for a 304 (docs/performance.md).
 *
 * The app's prototypes are the extension point that Express documents
 * (https://expressjs.com/en/guide/overriding-express-api.html).
 */
export function expressPrototypes(app: Express) {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse<ExpressRequest> {
    /** Declared here because a property that Express adds later changes the shape of the object. */
    readonly locals: object = {};
  }
  adopt(ExpressRequest.prototype, express.request, app);
  adopt(ExpressResponse.prototype, express.response, app);
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

function adopt(prototype: object, from: object, app: Express): void {
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(from));
  Object.defineProperty(prototype, 'app', { value: app });
}
