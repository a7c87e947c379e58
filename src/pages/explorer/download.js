import { html, nothing } from 'lit-html';
import { headerOf } from '../shared/exchange.js';
import { formatBytes, formatCount } from '../shared/format.js';
import { detailOf } from '../shared/session.js';
import { waiting } from './states.js';

/** @import { Exchange, PageRequest } from '../shared/exchange.js' */
/** @import { Api } from './api.js' */

/**
 * Downloads of lists, one at a time, which go on when their place is left. A file is saved only if it is complete.
 *
 * @typedef {object} Download
 * @property {string} name of the file
 * @property {number} records written so far
 * @property {number} total records of the stream; 0 until it has begun
 * @property {number} retryAt time at which a wait ends
 * @property {Exchange} [exchange] the 429 before a wait
 * @property {'running' | 'saved' | 'failed'} state
 * @property {string} failure sentence
 */

/** A browser that does not let a page write files keeps one in memory until it is complete. */
const MAX_IN_MEMORY = 256 * 1024 * 1024;
/** The browser reads the file after the click. */
const URL_KEPT_MS = 60_000;
const TONES = { running: '', saved: 'good', failed: 'bad' };

export class Downloads {
  #changed;
  #stopping = new AbortController();
  /** @type {Download | undefined} */
  latest;

  /** @param {() => void} changed called after each change */
  constructor(changed) {
    this.#changed = changed;
  }

  get isRunning() {
    return this.latest?.state === 'running';
  }

  /**
   * Writes a stream of lines to a file.
   * @param {Api} api
   * @param {PageRequest} request
   * @param {string} name of the file
   * @param {(part: string) => string} encode from parts of the stream to those of the file
   */
  async start(api, request, name, encode) {
    const handle = await selectFile(name);
    if (handle === null || this.isRunning) return;
    /** @type {Download} */
    const download = { name, records: 0, total: 0, retryAt: 0, state: 'running', failure: '' };
    this.latest = download;
    this.#stopping = new AbortController();
    this.#changed();
    const { signal } = this.#stopping;
    /** @param {Exchange} refused @param {number} retryAt */
    const wait = (refused, retryAt) => {
      [download.exchange, download.retryAt] = [refused, retryAt];
    };
    try {
      const exchange = await api.send(request, signal, wait);
      if (!(exchange.body instanceof ReadableStream)) throw new Error(detailOf(exchange));
      download.total = Number(headerOf(exchange, 'service-record-count'));
      await exchange.body
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(encoder(download, encode))
        .pipeTo((await handle?.createWritable()) ?? fileInMemory(name), { signal });
      download.state = 'saved';
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      download.state = 'failed';
      const cause = error instanceof TypeError ? 'The connection broke off.' : error.message;
      download.failure = signal.aborted ? 'Stopped.' : cause;
      // The dialog has created an empty file.
      await handle?.remove?.();
    }
    this.#changed();
  }

  stop() {
    this.#stopping.abort();
  }

  /** Stops the latest download, and shows it no more. */
  forget() {
    this.stop();
    this.latest = undefined;
    this.#changed();
  }
}

/**
 * Encodes a stream, and fails at the end if it is not complete.
 * @param {Download} download
 * @param {(part: string) => string} encode
 * @returns {TransformStream<string, string>}
 */
function encoder(download, encode) {
  return new TransformStream({
    start: (file) => {
      file.enqueue(encode(''));
    },
    transform: (part, file) => {
      download.records += part.split('\n').length - 1;
      file.enqueue(encode(part));
    },
    flush: () => {
      if (download.records !== download.total) throw new Error('The list is not complete.');
    },
  });
}

/**
 * Asks for a file. Returns undefined where the page cannot write one, and null if the user selects none.
 * @param {string} name
 */
async function selectFile(name) {
  try {
    return await window.showSaveFilePicker?.({ suggestedName: name });
  } catch (error) {
    // Other errors mean that the dialog is not permitted here and now.
    return error instanceof DOMException && error.name === 'AbortError' ? null : undefined;
  }
}

/**
 * @param {string} name
 * @returns {WritableStream<string>}
 */
function fileInMemory(name) {
  /** @type {Blob[]} */
  const parts = [];
  let bytes = 0;
  return new WritableStream({
    write: (text) => {
      const part = new Blob([text]);
      bytes += part.size;
      if (bytes > MAX_IN_MEMORY) throw new Error(`This browser keeps ${formatBytes(MAX_IN_MEMORY)} at most.`);
      parts.push(part);
    },
    close: () => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(parts));
      link.download = name;
      link.click();
      setTimeout(() => {
        URL.revokeObjectURL(link.href);
      }, URL_KEPT_MS);
    },
  });
}

/** Tells the bound of a browser that cannot write a file as it arrives. */
export function boundInMemory() {
  if (window.showSaveFilePicker !== undefined) return nothing;
  return html`<span class="hint">${formatBytes(MAX_IN_MEMORY)} at most in this browser</span>`;
}

/**
 * Shows the latest download, its progress and its outcome.
 * @param {Downloads} downloads
 */
export function downloadView(downloads) {
  const { latest, isRunning } = downloads;
  if (latest === undefined) return nothing;
  const { name, state, total, records, retryAt, failure } = latest;
  const progress = `${formatCount(records)} of ${formatCount(total)} records`;
  const outcomes = {
    running: `Downloading ${name}`,
    saved: `Saved ${name}: ${progress}.`,
    failed: `Incomplete: ${progress}. ${failure} No file was saved.`,
  };
  const act = () => {
    if (isRunning) downloads.stop();
    else downloads.forget();
  };
  return html`<section class="notice ${TONES[state]}" aria-label="Download">
    <p role="status">${outcomes[state]}</p>
    ${isRunning && total === 0 && retryAt > 0 ? waiting(latest) : nothing}
    ${isRunning ? html`<label>${progress} <progress max=${Math.max(1, total)} value=${records}></progress></label>` : nothing}
    <button type="button" @click=${act}>${isRunning ? 'Stop' : 'Close'}</button>
  </section>`;
}
