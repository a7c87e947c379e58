import { styleText } from 'node:util';
import { timeSpan } from './units.ts';

/** Time between two drawings of the bar. */
const REDRAW_MS = 100;
/** Time between two lines where there is no terminal, so that the logs of long commands stay short. */
const LINE_MS = 10_000;
const CELLS = 24;
/** Time of a step before its remaining time is estimated. */
const ESTIMATE_AFTER_MS = 2000;

type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;

/**
 * Shows the progress of a command on standard error: one line with a bar on a terminal, else a line every 10 seconds.
 * It has no timer, since some commands occupy their thread. The bar has no colour if `NO_COLOR` is set.
 */
export class Progress implements Disposable {
  readonly #output: Output;
  readonly #now: () => number;
  readonly #isTerminal: boolean;
  #shownAt: number;
  #stepBegan: number;
  #share = 0;
  #isShown = false;

  constructor(output: Output = process.stderr, now = () => performance.now()) {
    this.#output = output;
    this.#now = now;
    // A dumb terminal cannot redraw a line.
    this.#isTerminal = output.isTTY && process.env['TERM'] !== 'dumb';
    this.#stepBegan = now();
    this.#shownAt = this.#isTerminal ? -Infinity : this.#stepBegan;
  }

  /** @param share the part of the step that is done, 0 to 1, if known. A smaller one than before begins a step */
  show(text: string, share?: number): void {
    const now = this.#now();
    if (share === undefined || share < this.#share) this.#stepBegan = now;
    this.#share = share ?? 0;
    if (now - this.#shownAt < (this.#isTerminal ? REDRAW_MS : LINE_MS)) return;
    this.#shownAt = now;
    if (this.#isTerminal) this.#draw(text, share, now - this.#stepBegan);
    else this.#output.write(`${text}${share === undefined ? '' : ` (${percent(share)})`}\n`);
  }

  /** Removes the line from a terminal. Call before other output. */
  clear(): void {
    if (this.#isShown) this.#output.write('\r\x1b[K');
    this.#isShown = false;
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  #draw(text: string, share: number | undefined, passedMs: number): void {
    const columns = this.#output.columns || 80;
    const [bar, barColumns] =
      share === undefined ? ['', 0] : [`${barOf(share)} ${percent(share).padStart(5)}  `, CELLS + 8];
    const rest =
      share !== undefined && share > 0 && passedMs >= ESTIMATE_AFTER_MS
        ? `, ${timeSpan(Math.max(1000, Math.round((passedMs * (1 - share)) / share)))} left`
        : '';
    // A line of the full width would wrap.
    this.#output.write(`\r${bar}${(text + rest).slice(0, Math.max(0, columns - 1 - barColumns))}\x1b[K`);
    this.#isShown = true;
  }
}

function barOf(share: number): string {
  const done = Math.min(CELLS, Math.floor(share * CELLS));
  const style = (format: 'cyan' | 'dim', text: string) => styleText(format, text, { stream: process.stderr });
  return style('cyan', '█'.repeat(done)) + style('dim', '░'.repeat(CELLS - done));
}

function percent(share: number): string {
  return `${Math.min(100, Math.floor(share * 100))} %`;
}
