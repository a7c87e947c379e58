/** The interface of negotiator 1 in use here. `@types/negotiator` describes 0.6, without `preferred`. */
declare module 'negotiator' {
  import type { IncomingHttpHeaders } from 'node:http';

  class Negotiator {
    constructor(request: { readonly headers: IncomingHttpHeaders });
    /** Returns the available codings that `Accept-Encoding` allows, the best first; on a tie, in the preferred order. */
    encodings(available: readonly string[], options: { preferred: readonly string[] }): readonly string[];
  }
  export = Negotiator;
}
