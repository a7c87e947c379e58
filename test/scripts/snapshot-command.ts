import { readdirSync, watch } from 'node:fs';
import { expect } from 'chai';
import { main } from '../../scripts/snapshot.ts';
import { Command, type Ended, runHere } from '../support/command.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { inOrganization, minimalTicket, times } from '../support/records.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';

/** The small import with so many tickets that a command can be interrupted. */
export const LARGE_IMPORT = {
  ...SMALL_IMPORT,
  tickets: times(60_000, (i) => inOrganization('north')(minimalTicket(`t${i}`))),
};

type Environment = Readonly<Record<string, string>>;

/**
 * Runs the commands of `npm run snapshot` for the calling suite. In a command line, `@` stands for the folder of the
 * suite, which has the small import (`import`), its snapshot (`good.sqlite`) and a folder for results (`output`).
 */
export class SnapshotCommand {
  readonly folder = folderForAll();

  constructor() {
    before(async () => {
      writeImport(this.folder('import'), SMALL_IMPORT);
      writeImport(this.folder('output'), {});
      await build(this.folder('import'), this.folder('good.sqlite'));
    });
  }

  /** Runs a command in this process. */
  run(line: string, environment: Environment = {}): Promise<Omit<Ended, 'signal'>> {
    return runHere(main, this.#words(line), environment);
  }

  /** Starts a command in a process of its own. */
  start(line: string, environment: Environment = {}, limits = {}): Command {
    return new Command('scripts/snapshot.ts', this.#words(line), environment, limits);
  }

  /** Runs a command that succeeds without a warning. Returns its standard output. */
  async outputOf(line: string, environment: Environment = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(line, environment);
    expect({ code, stderr }, line).to.deep.equal({ code: 0, stderr: '' });
    return stdout;
  }

  /** Runs a command that refuses its work, and leaves no result. Returns its standard error, which has no stack. */
  async refusalOf(line: string, environment: Environment = {}, expectedCode = 1): Promise<string> {
    const results = this.results;
    const { code, stdout, stderr } = await this.run(line, environment);
    expect({ code, stdout }, stderr).to.deep.equal({ code: expectedCode, stdout: '' });
    expect(stderr).to.not.include('    at ');
    expect(this.results).to.deep.equal(results);
    return stderr;
  }

  get results(): string[] {
    return readdirSync(this.folder('output'));
  }

  #words(line: string): string[] {
    return line
      .replaceAll('@', `${this.folder('')}/`)
      .split(' ')
      .filter(Boolean);
  }
}

/** Waits until a folder has an entry whose name begins so. Returns the name. */
export function appearance(folder: string, start: string): Promise<string> {
  return new Promise((resolve) => {
    const look = () => {
      const found = readdirSync(folder).find((name) => name.startsWith(start));
      if (found === undefined) return;
      watcher.close();
      resolve(found);
    };
    const watcher = watch(folder, look);
    look();
  });
}
