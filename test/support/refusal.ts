/** Returns the error of a class with which a promise rejects. */
export async function refusalOf<E extends Error>(
  promise: Promise<unknown>,
  kind: abstract new (...parameters: never[]) => E,
): Promise<E> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error(`no ${kind.name} was thrown`);
}

/** Returns the error with which a promise rejects. */
export const rejectionOf = (promise: Promise<unknown>): Promise<Error> => refusalOf(promise, Error);

/** Returns the error of a class that a function throws. */
export function thrownBy<E extends Error>(
  work: () => unknown,
  kind: abstract new (...parameters: never[]) => E,
): E {
  try {
    work();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error(`no ${kind.name} was thrown`);
}
