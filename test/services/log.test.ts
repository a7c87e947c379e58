import { describeOutput } from '../support/log-writer.ts';
import { needs } from '../support/components.ts';

describe('The log', () => {
  needs('script');
  describeOutput('terminal');
});
