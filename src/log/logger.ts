import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';

/** Creates a logger of JSON lines, with names of levels, and times in ISO 8601. */
export function createLogger(level: LevelWithSilent, destination: DestinationStream): Logger {
  const formatters = { level: (name: string) => ({ level: name }) };
  return pino({ level, timestamp: pino.stdTimeFunctions.isoTime, formatters }, destination);
}
