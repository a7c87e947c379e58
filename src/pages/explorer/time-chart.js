import { TimeChart } from '../shared/charts.js';

/** @import { ChartData, ChartOptions } from '../shared/charts.js' */

/** The element `time-chart`: a chart whose options and data a template sets as properties. */
class TimeChartElement extends HTMLElement {
  /** @type {TimeChart | undefined} */
  #chart;
  /** @type {ChartOptions | undefined} */
  #options;
  /** @type {ChartData | undefined} */
  #data;

  /** Options of the chart. Other options draw another chart. */
  set options(/** @type {ChartOptions} */ options) {
    this.#options = options;
    if (this.isConnected) this.#draw();
  }

  set data(/** @type {ChartData} */ data) {
    this.#data = data;
    this.#chart?.setData(data);
  }

  connectedCallback() {
    this.#draw();
  }

  disconnectedCallback() {
    this.#chart?.destroy();
    this.#chart = undefined;
  }

  #draw() {
    this.#chart?.destroy();
    this.replaceChildren();
    if (this.#options === undefined) return;
    this.#chart = new TimeChart(this, this.#options);
    if (this.#data !== undefined) this.#chart.setData(this.#data);
  }
}

customElements.define('time-chart', TimeChartElement);
