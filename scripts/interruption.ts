import { Refused } from './run-command.ts';

/** Is aborted by the first signal to stop; the next ends the process at once, as it would without this. */
export function interruption(outcome: string): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      controller.abort(new Refused(`interrupted by ${name}; ${outcome}`));
    });
  }
  return controller.signal;
}
