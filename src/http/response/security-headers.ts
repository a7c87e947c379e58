/**
 * Names and values in turn. What the OWASP REST Security Cheat Sheet asks of every response of an API
 * (https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html#security-headers), but for
 * Cache-Control and Content-Type, which each answer decides. A browser heeds Strict-Transport-Security only
 * when it came over TLS.
 */
export const SECURITY_HEADERS: readonly string[] = [
  'X-Content-Type-Options',
  'nosniff',
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options',
  'DENY',
  'Strict-Transport-Security',
  'max-age=31536000',
  'Referrer-Policy',
  'no-referrer',
  'Permissions-Policy',
  'camera=(), geolocation=(), microphone=()',
  'Cross-Origin-Resource-Policy',
  'same-origin',
];
