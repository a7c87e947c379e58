/** A metric as it stands in the text form of Prometheus. */
export interface ParsedMetric {
  readonly help: string;
  readonly type: string;
  /** Values by what stands before them, such as `name{label="value"}`. */
  readonly samples: Map<string, number>;
}

const HELP = /^# HELP ([a-z_0-9]+) (\S.*)$/;
const TYPE = /^# TYPE ([a-z_0-9]+) (counter|gauge|histogram)$/;
const LABEL = '[a-z_]+="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const SAMPLE = new RegExp(
  `^(([a-z_0-9]+)(?:\\{${LABEL}(?:,${LABEL})*\\})?) (-?[0-9.]+(?:e[+-]?[0-9]+)?|Nan)$`,
);

/**
 * Reads the text line by line, and takes no line of another form.
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function parseMetrics(text: string): Map<string, ParsedMetric> {
  const metrics = new Map<string, ParsedMetric>();
  let help: RegExpExecArray | null = null;
  let name = '';
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  for (const line of text.slice(0, -1).split('\n')) {
    const type = TYPE.exec(line);
    const sample = SAMPLE.exec(line);
    if (HELP.test(line)) {
      help = HELP.exec(line);
    } else if (type !== null) {
      name = type[1];
      if (help?.[1] !== name) throw new Error(`no HELP before: ${line}`);
      if (metrics.has(name)) throw new Error(`given twice: ${name}`);
      metrics.set(name, { help: help[2], type: type[2], samples: new Map() });
    } else if (sample !== null) {
      const metric = metrics.get(name);
      const suffix = sample[2].slice(name.length);
      const suffixes = metric?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      if (!sample[2].startsWith(name) || !suffixes.includes(suffix)) throw new Error(`out of place: ${line}`);
      if (metric?.samples.has(sample[1]) === true) throw new Error(`given twice: ${line}`);
      metric?.samples.set(sample[1], Number(sample[3]));
    } else if (line !== '') {
      throw new Error(`of no known form: ${line}`);
    }
  }
  return metrics;
}
