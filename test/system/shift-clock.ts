/**
 * Preloaded into a process, sets its wall clock: by a day forward at the first SIGUSR2, by a day back at the second,
 * right again at the third. Says so on standard output. Threads that are started later have the same clock.
 */
const DAY_MS = 86_400_000;
const SHIFTS = [0, DAY_MS, -DAY_MS];
const RealDate = Date;
let step = Number(process.env['CLOCK_STEP'] ?? 0);

function now(): number {
  return RealDate.now() + (SHIFTS[step % SHIFTS.length] ?? 0);
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: ConstructorParameters<DateConstructor> | [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown)),
});

process.on('SIGUSR2', () => {
  step++;
  process.env['CLOCK_STEP'] = String(step);
  process.stdout.write(`the clock says ${new Date(now()).toISOString()}\n`);
});
