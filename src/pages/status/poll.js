/**
 * Runs a task repeatedly while the page is visible. A run begins `pauseMs` after the end of the one before, so that slow
 * responses do not pile up. Returns a function that asks for a run now.
 * @param {() => Promise<void>} task never fails
 * @param {number} pauseMs
 * @param {Pick<Document, 'hidden' | 'addEventListener'>} page
 */
export function pollWhileVisible(task, pauseMs, page = document) {
  let isRunning = false;
  let isAsked = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const run = async () => {
    clearTimeout(timer);
    isAsked = isRunning;
    if (isRunning) return;
    isRunning = true;
    await task();
    isRunning = false;
    if (!page.hidden) timer = setTimeout(() => void run(), isAsked ? 0 : pauseMs);
  };
  page.addEventListener('visibilitychange', () => {
    if (page.hidden) clearTimeout(timer);
    else void run();
  });
  void run();
  return () => void run();
}
