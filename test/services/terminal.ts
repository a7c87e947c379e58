import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { INHERITED, ROOT } from '../support/command.ts';

/** Runs a command in a pseudo-terminal of 80 columns, and exits with its status. */
const PSEUDO_TERMINAL = `
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    os.read(0, 1)
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
os.write(terminal, b'\\n')
while True:
    try:
        output = os.read(terminal, 65536)
    except OSError:
        break
    if not output:
        break
    sys.stdout.buffer.write(output)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

/** Runs a script of the project in a terminal of 80 columns, by Python's pty. Returns all that it wrote. */
export async function runOnTerminal(
  script: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const command = [process.execPath, join(ROOT, script), ...args];
  const python = spawn('python3', ['-c', PSEUDO_TERMINAL, ...command], {
    cwd: ROOT,
    env: { ...INHERITED, TERM: 'xterm-256color', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([text(python.stdout), once(python, 'close')]);
  if (python.exitCode !== 0) throw new Error(`exit status ${String(python.exitCode)}:\n${output}`);
  return output;
}
