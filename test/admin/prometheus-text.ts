/** A metric of the Prometheus text format. */
export interface ParsedMetric {
  readonly help: string;
  readonly type: string;
  /** Values by name and labels, such as `name{label="value"}`. */
  readonly samples: Map<string, number>;
}

const HELP = /^# HELP ([a-z_0-9]+) (\S.*)$/;
const TYPE = /^# TYPE ([a-z_0-9]+) (counter|gauge|histogram)$/;
const LABEL = '[a-z_]+="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const SAMPLE = new RegExp(
  `^(([a-z_0-9]+)(?:\\{${LABEL}(?:,${LABEL})*\\})?) (-?[0-9.]+(?:e[+-]?[0-9]+)?|Nan)$`,
);

/**
 * Parses the text line by line, and refuses any other form.
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function parseMetrics(text: string): Map<string, ParsedMetric> {
  const metrics = new Map<string, ParsedMetric>();
  let help: RegExpExecArray | null = null;
  let name = '';
  if (!text.endsWith('\n')) throw new Error('the last line has no newline');
  for (const line of text.slice(0, -1).split('\n')) {
    const type = TYPE.exec(line);
    const sample = SAMPLE.exec(line);
    if (HELP.test(line)) {
      help = HELP.exec(line);
    } else if (type !== null) {
      name = type[1];
      if (help?.[1] !== name) throw new Error(`line without HELP before it: ${line}`);
      if (metrics.has(name)) throw new Error(`duplicate metric: ${name}`);
      metrics.set(name, { help: help[2], type: type[2], samples: new Map() });
    } else if (sample !== null) {
      const metric = metrics.get(name);
      const suffix = sample[2].slice(name.length);
      const suffixes = metric?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      if (!sample[2].startsWith(name) || !suffixes.includes(suffix))
        throw new Error(`sample of another metric: ${line}`);
      if (metric?.samples.has(sample[1]) === true) throw new Error(`duplicate sample: ${line}`);
      metric?.samples.set(sample[1], Number(sample[3]));
    } else if (line !== '') {
      throw new Error(`malformed line: ${line}`);
    }
  }
  return metrics;
}
