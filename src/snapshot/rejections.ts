import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import type { Rejection } from './build-report.ts';

const SHOWN = 20;

/** Collects what is wrong with an import: the first few to show, all of them counted and, if wanted, written to a file. */
export class Rejections {
  readonly first: Rejection[] = [];
  total = 0;
  readonly #path: string | undefined;
  readonly #file: number | undefined;

  /** `path`: where to write every rejection, as a line of JSON with the text of the line rejected. */
  constructor(path?: string) {
    this.#path = path;
    this.#file = path === undefined ? undefined : openSync(path, 'wx');
  }

  add(rejection: Rejection, text: string | undefined): void {
    this.total++;
    if (this.first.length < SHOWN) this.first.push(rejection);
    if (this.#file !== undefined) writeSync(this.#file, `${JSON.stringify({ ...rejection, text })}\n`);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  /** Gives the file its final name. */
  publish(path: string): void {
    if (this.#path !== undefined) renameSync(this.#path, path);
  }
}
