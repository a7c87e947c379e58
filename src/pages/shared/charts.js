import uPlot from 'uplot';

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
 * @property {string} [group] charts of a group share their cursor
 * @property {number} [minSeconds] shortest time that the axis spans; it ends with the last value
 */

/** Seconds since the epoch, then the values of each series, null where there is none. */
/** @typedef {readonly [readonly number[], ...(readonly (number | null)[])[]]} ChartData */

const HEIGHT = 180;
const FONT_PX = 12;
const DASHES = { solid: [], dashed: [6, 4], dotted: [2, 3] };
const DAY_SECONDS = 86_400;

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const MINUTE = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const SECOND = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

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
    this.#theme = new Theme(element);
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
    const { series, format, height = HEIGHT, group, minSeconds = 0 } = this.#options;
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
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, ...(group && { sync: { key: group } }) },
      scales: {
        x: { range: (_plot, first, last) => [Math.min(first, last - minSeconds), last] },
        y: { range: (_plot, _lowest, highest) => [0, highest > 0 ? highest * 1.1 : 1] },
      },
      axes: [
        {
          ...axis,
          size: 28,
          space: 44,
          values: (_plot, times, _axis, _space, step) => times.map((time) => timeLabel(time, step)),
        },
        { ...axis, values: (_plot, values) => values.map(format), size: (_plot, labels) => widthOf(labels) },
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

/** Colors of theme.css, as a canvas needs them. */
class Theme {
  #probe = document.createElement('span');
  #scheme = matchMedia('(prefers-color-scheme: dark)');
  #changed = new AbortController();
  /** @type {Map<string, string>} */
  #colors = new Map();

  /** @param {HTMLElement} element element in which the colors apply */
  constructor(element) {
    this.#probe.hidden = true;
    element.append(this.#probe);
    this.onChange(() => {
      this.#colors.clear();
    });
  }

  /** @param {() => void} listener */
  onChange(listener) {
    this.#scheme.addEventListener('change', listener, { signal: this.#changed.signal });
  }

  destroy() {
    this.#changed.abort();
    this.#probe.remove();
  }

  /** @param {string} name */
  color(name) {
    return this.#computed(`var(${name})`);
  }

  /** @param {string} name */
  tint(name) {
    return this.#computed(`color-mix(in srgb, var(${name}) 12%, transparent)`);
  }

  /** @param {string} value */
  #computed(value) {
    let color = this.#colors.get(value);
    if (color === undefined) {
      this.#probe.style.color = value;
      color = getComputedStyle(this.#probe).color;
      this.#colors.set(value, color);
    }
    return color;
  }
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
export function timeLabel(time, step) {
  const format = step >= DAY_SECONDS ? DAY : step >= 60 ? MINUTE : SECOND;
  return format.format(time * 1000);
}

/**
 * Returns the width of an axis that has these labels, in CSS pixels.
 * @param {string[] | null} labels
 */
function widthOf(labels) {
  const longest = Math.max(0, ...(labels ?? []).map((label) => label.length));
  return 16 + longest * FONT_PX * 0.6;
}
