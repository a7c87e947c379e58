import { existsSync, readFileSync } from 'node:fs';

/**
 * Shifts the wall clock of all threads when preloaded into a process.
 * The file at CLOCK_FILE holds the offset in milliseconds, and is read at each use of the clock.
 */
const RealDate = Date;
const file = process.env['CLOCK_FILE'] ?? '';

function now(): number {
  return RealDate.now() + (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: ConstructorParameters<DateConstructor> | [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown)),
});
