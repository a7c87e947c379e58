import { existsSync, readFileSync } from 'node:fs';

/**
 * Preloaded into a process, sets the wall clock of all its threads by as many milliseconds as the file that CLOCK_FILE
 * names says, from the moment on at which it says so.
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
