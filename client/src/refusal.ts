import { ResponseError, type Violation, WalkGoneError } from './errors.ts';

/** Makes an error of a response that is not the expected one. */
export function refusal(request: string, response: Response, body: string): ResponseError {
  const { status, statusText, headers } = response;
  const { detail, errors } = problemIn(body);
  const isRedirect = status === 0 || (status >= 300 && status < 400);
  const facts = {
    status,
    detail: isRedirect ? 'a redirect; set baseUrl to its target' : (detail ?? statusText),
    errors,
    requestId: headers.get('X-Request-Id') ?? undefined,
    retryAfterSeconds: secondsUntil(headers.get('Retry-After') ?? ''),
  };
  const isGone = status === 400 && errors.some(({ loc }) => loc === 'query.snapshot');
  return new (isGone ? WalkGoneError : ResponseError)(request, facts);
}

/** Reads `Retry-After`: seconds, or a date as some proxies send. Returns undefined when it is neither. */
function secondsUntil(retryAfter: string): number | undefined {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const seconds = Math.ceil((Date.parse(retryAfter) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}

/** Reads the body of a refusal, which may be of a proxy and have any form. */
function problemIn(body: string): { detail: string | undefined; errors: Violation[] } {
  let problem: unknown;
  try {
    problem = JSON.parse(body);
  } catch {
    // Of a proxy.
  }
  if (typeof problem !== 'object' || problem === null) return { detail: undefined, errors: [] };
  const detail = 'detail' in problem ? problem.detail : undefined;
  const errors: unknown = 'errors' in problem ? problem.errors : undefined;
  return {
    detail: typeof detail === 'string' ? detail : undefined,
    errors: Array.isArray(errors) ? errors.filter(isViolation) : [],
  };
}

function isViolation(value: unknown): value is Violation {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['loc', 'input', 'ctx'].every((name) => typeof (value as Record<string, unknown>)[name] === 'string')
  );
}
