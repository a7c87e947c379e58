/** The interface of negotiator 1 in use here. `@types/negotiator` describes 0.6, without `preferred`. */
declare module 'negotiator' {
  import type { IncomingHttpHeaders } from 'node:http';

  class Negotiator {
    constructor(request: { readonly headers: IncomingHttpHeaders });
    /**
     * Returns the available content codings that `Accept-Encoding` allows, the best first.
     *
     * @param options.preferred their order on a tie
     */
    encodings(
      available: readonly string[],
      options: { readonly preferred: readonly string[] },
    ): readonly string[];
  }
  export = Negotiator;
}
