import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/command.ts';

/** Runs a shell command that succeeds, with the programs that npm installs. Returns its standard output. */
export function run(
  command: string,
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { PATH = '', ...others } = { ...process.env, ...environment };
  const env = { ...others, PATH: `${join(ROOT, 'node_modules/.bin')}:${PATH}` };
  execFile('sh', ['-c', command], { cwd, env, maxBuffer: Infinity }, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else reject(new Error(`${command}: ${error.message}\n${stdout}\n${stderr}`));
  });
  return promise;
}
