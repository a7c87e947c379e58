import { html, render } from 'lit-html';
import uPlot from 'uplot';
import { FONT_PX, powersOfTen, TIME_LABEL_PX, timeLabel, timeRange, widthOf } from './axes.js';

/**
 * The element `time-chart`: lines of values over time, in the colors of the theme, with a legend that shows the values
 * at the cursor, else the latest ones. A template sets its options and data as properties.
 */

/**
 * @typedef {object} ChartSeries
 * @property {string} label
 * @property {string} color color of theme.css, such as `--accent`
 * @property {'solid' | 'dashed' | 'dotted'} [line] tells series apart without their colors
 * @property {boolean} [isFilled] whether the area below the line is tinted
 *
 * @typedef {object} ChartOptions
 * @property {readonly ChartSeries[]} series
 * @property {(value: number) => string} format text of a value
 * @property {number} [height] in CSS pixels
 * @property {boolean} [isLogarithmic] for positive values of several magnitudes
 * @property {string} [group] charts of a group share their cursor
 * @property {number} [minSeconds] shortest time that the axis spans
 */

/** Seconds since the epoch, then the values of each series, null where there is none. */
/** @typedef {readonly [readonly number[], ...(readonly (number | null)[])[]]} ChartData */

const HEIGHT = 180;
const DASHES = { solid: [], dashed: [6, 4], dotted: [2, 3] };
/** Whole powers of ten around the values. @type {uPlot.Scale} */
const LOGARITHMIC = {
  // The enum of uPlot is a type only.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment
  distr: 3,
  range: (_plot, lowest, highest) => (highest > 0 ? uPlot.rangeLog(lowest, highest, 10, true) : [0.001, 1]),
};

class TimeChart extends HTMLElement {
  /** @type {ChartOptions | undefined} */
  #options;
  /** @type {ChartData} */
  #data = [[]];
  /** @type {uPlot | undefined} */
  #plot;
  #legend = document.createElement('div');
  /** Has the color of the theme that the canvas needs next. */
  #probe = document.createElement('span');
  #resize = new ResizeObserver(() => this.#plot?.setSize(this.#size()));
  #scheme = matchMedia('(prefers-color-scheme: dark)');
  #redraw = () => {
    this.#plot?.redraw();
  };

  set options(/** @type {ChartOptions} */ options) {
    this.#options = options;
    if (this.isConnected) this.#draw(options);
  }

  set data(/** @type {ChartData} */ data) {
    this.#data = data;
    this.#showData();
  }

  connectedCallback() {
    this.#probe.hidden = true;
    this.append(this.#legend, this.#probe);
    if (this.#options !== undefined) this.#draw(this.#options);
    this.#scheme.addEventListener('change', this.#redraw);
    this.#resize.observe(this);
  }

  disconnectedCallback() {
    this.#resize.disconnect();
    this.#scheme.removeEventListener('change', this.#redraw);
    this.#plot?.destroy();
    this.replaceChildren();
  }

  /** @param {ChartOptions} options */
  #draw(options) {
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#plotOptions(options), undefined, this);
    // The image has no text. The page describes its content, and offers its values as a table.
    this.#plot.root.ariaHidden = 'true';
    this.#showData();
  }

  #showData() {
    // uPlot does not change its data. Its type lacks `readonly`.
    this.#plot?.setData(/** @type {uPlot.AlignedData} */ (this.#data));
    this.#showLegend();
  }

  #showLegend() {
    if (this.#options === undefined) return;
    const { series, format } = this.#options;
    const row = this.#plot?.cursor.idx ?? this.#data[0].length - 1;
    const items = series.map(({ label, color, line = 'solid' }, i) => {
      const value = this.#data[i + 1]?.[row];
      return html`<li>
        <span class="legend-line ${line}" .style=${`color: var(${color})`}></span>${label}
        <span class="legend-value">${value == null ? '–' : format(value)}</span>
      </li>`;
    });
    render(
      html`<ul class="legend">
        ${items}
      </ul>`,
      this.#legend,
    );
  }

  #size() {
    return { width: this.clientWidth, height: this.#options?.height ?? HEIGHT };
  }

  /** @param {string} value CSS color, which may use those of the theme */
  #colorOf(value) {
    this.#probe.style.color = value;
    return getComputedStyle(this.#probe).color;
  }

  /**
   * @param {ChartOptions} options
   * @returns {uPlot.Options}
   */
  #plotOptions({ series, format, isLogarithmic = false, group, minSeconds = 0 }) {
    const axis = {
      stroke: () => this.#colorOf('var(--muted)'),
      grid: { stroke: () => this.#colorOf('var(--line)'), width: 1 },
      ticks: { show: false },
      font: `${FONT_PX}px system-ui, sans-serif`,
    };
    return {
      ...this.#size(),
      padding: [8, TIME_LABEL_PX / 2, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, ...(group && { sync: { key: group } }) },
      scales: {
        x: { range: ({ data }) => timeRange(data[0], minSeconds) },
        y: isLogarithmic
          ? LOGARITHMIC
          : { range: (_plot, _lowest, highest) => [0, highest > 0 ? highest * 1.1 : 1] },
      },
      axes: [
        {
          ...axis,
          size: 28,
          space: TIME_LABEL_PX,
          values: (_plot, times, _axis, _space, step) => times.map((time) => timeLabel(time, step)),
        },
        {
          ...axis,
          ...(isLogarithmic && { splits: (_plot, _axis, lowest, highest) => powersOfTen(lowest, highest) }),
          // A short logarithmic axis leaves out some values.
          values: (_plot, /** @type {(number | null)[]} */ values) =>
            values.map((value) => (value === null ? '' : format(value))),
          size: (_plot, labels) => widthOf(labels),
        },
      ],
      series: [
        {},
        ...series.map(({ label, color, line = 'solid', isFilled = false }) => ({
          label,
          stroke: () => this.#colorOf(`var(${color})`),
          ...(isFilled && {
            fill: () => this.#colorOf(`color-mix(in srgb, var(${color}) 12%, transparent)`),
          }),
          width: 1.5,
          dash: DASHES[line],
        })),
      ],
      hooks: {
        setCursor: [
          () => {
            this.#showLegend();
          },
        ],
      },
    };
  }
}

customElements.define('time-chart', TimeChart);
