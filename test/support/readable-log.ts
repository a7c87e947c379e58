import { type LevelWithSilent, type Logger, pino } from 'pino';
import { createLogger } from '../../src/log/log-ring.ts';

export const SILENT = pino({ level: 'silent' });

export interface ReadableLog {
  readonly log: Logger;
  readonly lines: Record<string, unknown>[];
}

/** Creates a log whose lines a test reads. */
export function readableLog(level: LevelWithSilent = 'info'): ReadableLog {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  return { log: createLogger(level, { write }), lines };
}
