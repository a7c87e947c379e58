import { type Logger, pino } from 'pino';

export const SILENT = pino({ level: 'silent' });

export interface ReadableLog {
  readonly log: Logger;
  readonly lines: Record<string, unknown>[];
}

/** Creates a log whose lines a test reads. */
export function readableLog(level = 'info'): ReadableLog {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  return { log: pino({ level }, { write }), lines };
}
