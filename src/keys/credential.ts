/** What a caller presents. */
export interface Credential {
  readonly organizationId: string;
  readonly secret: string;
}

/** `Bearer svc:o:<organization>:<secret>`: the scheme in any case, the rest to the letter, each part visible ASCII without ":". */
const FORM = /^[Bb][Ee][Aa][Rr][Ee][Rr] +svc:o:([!-9;-~]+):([!-9;-~]+)$/;

/** Reads the value of an Authorization header; undefined when it is of any other form. */
export function parseCredential(value: string): Credential | undefined {
  const parts = FORM.exec(value);
  if (parts === null) return undefined;
  const [, organizationId = '', secret = ''] = parts;
  return { organizationId, secret };
}

/** As it is handed to an integrator, and follows `Bearer` in the header. */
export function formatCredential({ organizationId, secret }: Credential): string {
  return `svc:o:${organizationId}:${secret}`;
}
