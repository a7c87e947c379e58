import { setTimeout as delay } from 'node:timers/promises';

/** Waits until a condition holds. Looks again after a pause. */
export async function eventually(condition: () => boolean | Promise<boolean>, pauseMs = 1): Promise<void> {
  while (!(await condition())) await delay(pauseMs);
}
