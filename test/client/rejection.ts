/** Returns the error with which a promise is rejected. */
export async function rejectionOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('the promise is not rejected with an error');
}
