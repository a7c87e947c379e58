/** Returns whether an error is one of the operating system, or with a code, whether it is that one. */
export function isSystemError(error: unknown, code?: string): error is NodeJS.ErrnoException {
  return (
    error instanceof Error &&
    'syscall' in error &&
    (code === undefined || ('code' in error && error.code === code))
  );
}
