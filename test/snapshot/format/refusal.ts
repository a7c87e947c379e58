/** The error of a given class with which a promise is broken. */
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

/** The same of a function. */
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
