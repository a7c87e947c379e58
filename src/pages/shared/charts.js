import uPlot from 'uplot';
import { ThemeColors } from './theme-colors.js';

/** Charts of values over time, in the colors of the theme. */

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
const FONT_PX = 12;
const DASHES = { solid: [], dashed: [6, 4], dotted: [2, 3] };
const DAY_SECONDS = 86_400;
/** Room for a label of the axis of times, the longest of which are `Sept 2026` and `16 Sept`. */
const TIME_LABEL_PX = 76;

const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const MINUTE = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const SECOND = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** Whole powers of ten around the values. @type {uPlot.Scale} */
const LOGARITHMIC = {
  // The enum of uPlot is a type only.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment
  distr: 3,
  range: (_plot, lowest, highest) => (highest > 0 ? uPlot.rangeLog(lowest, highest, 10, true) : [0.001, 1]),
};

/** A line chart with a legend, which shows the values at the cursor, else the latest ones. */
export class TimeChart {
  #options;
  #theme;
  #plot;
  /** @type {HTMLElement[]} */
  #legendValues;
  #resize;

  /**
   * @param {HTMLElement} element empty; its width becomes that of the chart
   * @param {ChartOptions} options
   */
  constructor(element, options) {
    this.#options = options;
    this.#theme = new ThemeColors(element);
    const legend = legendOf(options.series);
    this.#legendValues = legend.values;
    element.append(legend.list);
    this.#plot = new uPlot(this.#plotOptions(element.clientWidth), undefined, element);
    // The image has no text. The page describes its content, and offers its values as a table.
    this.#plot.root.ariaHidden = 'true';
    this.#theme.onChange(() => {
      this.#plot.redraw();
    });
    this.#resize = new ResizeObserver(() => {
      this.#plot.setSize({ width: element.clientWidth, height: options.height ?? HEIGHT });
    });
    this.#resize.observe(element);
  }

  /** @param {ChartData} data */
  setData(data) {
    // uPlot does not change its data. Its type lacks `readonly`.
    this.#plot.setData(/** @type {uPlot.AlignedData} */ (data));
    this.#showValues();
  }

  /** Releases the observers. The caller removes the element. */
  destroy() {
    this.#resize.disconnect();
    this.#theme.destroy();
    this.#plot.destroy();
  }

  #showValues() {
    const { data, cursor } = this.#plot;
    const row = cursor.idx ?? data[0].length - 1;
    for (const [i, element] of this.#legendValues.entries()) {
      const value = data[i + 1]?.[row];
      element.textContent = value == null ? '–' : this.#options.format(value);
    }
  }

  /**
   * @param {number} width
   * @returns {uPlot.Options}
   */
  #plotOptions(width) {
    const { series, format, height = HEIGHT, isLogarithmic = false, group, minSeconds = 0 } = this.#options;
    const theme = this.#theme;
    const axis = {
      stroke: () => theme.color('--muted'),
      grid: { stroke: () => theme.color('--line'), width: 1 },
      ticks: { show: false },
      font: `${FONT_PX}px system-ui, sans-serif`,
    };
    return {
      width,
      height,
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
          values: (_plot, values) => labelsOf(values, format),
          size: (_plot, labels) => widthOf(labels),
        },
      ],
      series: [
        {},
        ...series.map(({ label, color, line = 'solid', isFilled = false }) => ({
          label,
          stroke: () => theme.color(color),
          ...(isFilled && { fill: () => theme.tint(color) }),
          width: 1.5,
          dash: DASHES[line],
        })),
      ],
      hooks: {
        setCursor: [
          () => {
            this.#showValues();
          },
        ],
      },
    };
  }
}

/**
 * Returns the span of the axis of times. It ends with the last one, which a single one does too: uPlot itself would
 * show the day after it.
 * @param {ArrayLike<number>} times seconds since the epoch, ascending
 * @param {number} minSeconds
 * @returns {[from: number, until: number]}
 */
export function timeRange(times, minSeconds) {
  if (times.length === 0) return [0, Math.max(1, minSeconds)];
  const last = times[times.length - 1];
  return [Math.min(times[0], last - minSeconds), last];
}

/** @param {readonly ChartSeries[]} series */
function legendOf(series) {
  const list = document.createElement('ul');
  list.className = 'legend';
  const values = series.map(({ label, color, line = 'solid' }) => {
    const sample = document.createElement('span');
    sample.className = `legend-line ${line}`;
    sample.style.color = `var(${color})`;
    const value = document.createElement('span');
    value.className = 'legend-value';
    const item = document.createElement('li');
    item.append(sample, label, ' ', value);
    list.append(item);
    return value;
  });
  return { list, values };
}

/**
 * Returns the label of a time on an axis, in local time.
 * @param {number} time seconds since the epoch
 * @param {number} step seconds between labels
 */
function timeLabel(time, step) {
  return timeFormat(step).format(time * 1000);
}

/** @param {number} step */
function timeFormat(step) {
  if (step >= 28 * DAY_SECONDS) return MONTH;
  if (step >= DAY_SECONDS) return DAY;
  return step >= 60 ? MINUTE : SECOND;
}

/**
 * Returns the powers of ten from one to another.
 * @param {number} lowest
 * @param {number} highest
 */
function powersOfTen(lowest, highest) {
  const first = Math.round(Math.log10(lowest));
  const length = Math.round(Math.log10(highest)) - first + 1;
  return Array.from({ length }, (_, i) => 10 ** (first + i));
}

/**
 * Returns the labels of the values on an axis. A short logarithmic axis leaves out some.
 * @param {readonly (number | null)[]} values
 * @param {(value: number) => string} format
 */
function labelsOf(values, format) {
  return values.map((value) => (value === null ? '' : format(value)));
}

/**
 * Returns the width of an axis that has these labels, in CSS pixels. The first time has room below it.
 * @param {string[] | null} labels
 */
function widthOf(labels) {
  const longest = Math.max(0, ...(labels ?? []).map((label) => label.length));
  return Math.max(TIME_LABEL_PX / 2, 16 + longest * FONT_PX * 0.6);
}
