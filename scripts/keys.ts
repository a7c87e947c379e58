import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { InvalidConfig, readConfig } from '../src/config.ts';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../src/contract/organization-id.ts';
import { CorruptKeysFile } from '../src/keys/corrupt-keys-file.ts';
import { formatCredential } from '../src/keys/credential.ts';
import { KeysFileBusy } from '../src/keys/keys-file-busy.ts';
import { isLabel, KeysFile, LABEL_RULE } from '../src/keys/keys-file.ts';
import type { KeyEntry } from '../src/keys/keys-file.ts';

interface FileOption {
  file?: string;
}

const program = new Command('keys')
  .description('Make, list and revoke API keys. A running server takes a change up by itself.')
  .exitOverride();

command('create')
  .description('make a key and print its credential, once')
  .requiredOption('--organization <ID>', 'whose records the key opens', organization)
  .option('--label <TEXT>', 'who holds the key, what for', label)
  .action((options: FileOption & { organization: string; label?: string }) => {
    onFile(options, (file) => {
      const { keyId, ...credential } = file.create(options.organization, options.label ?? '', new Date());
      console.log(`${keyId} opens the records of ${options.organization}.`);
      console.log('This is its credential. It is shown this once and kept nowhere:');
      console.log(formatCredential(credential));
    });
  });

command('list')
  .description('show every key, never its secret')
  .action((options: FileOption) => {
    onFile(options, (file) => {
      console.log(tableOf(file.list()));
    });
  });

command('revoke')
  .description('make a key open nothing, for good')
  .argument('<KEY_ID>', 'as `list` shows it')
  .action((keyId: string, options: FileOption) => {
    onFile(options, (file) => {
      const revocation = file.revoke(keyId, new Date());
      if (revocation === undefined) refuse(`there is no key ${keyId}; \`list\` shows those there are`);
      else if (revocation.already) console.log(`${keyId} is already revoked, since ${revocation.revokedAt}.`);
      else console.log(`${keyId} is revoked.`);
    });
  });

try {
  program.parse();
} catch (error) {
  // What is not commander's is a fault of the program itself: let it show its stack.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}

function command(name: string): Command {
  return program
    .command(name)
    .option('--file <PATH>', 'the keys file (default: what KEYS_FILE says)')
    .allowExcessArguments(false);
}

function onFile(options: FileOption, use: (file: KeysFile) => void): void {
  let path = options.file;
  try {
    path ??= readConfig().keysFile;
    use(new KeysFile(path));
  } catch (error) {
    if (error instanceof InvalidConfig) refuse(error.message);
    else if (isSystemError(error) && error.code === 'ENOENT') {
      refuse(`there is no keys file ${path ?? ''}; \`create\` makes one`);
    } else if (error instanceof CorruptKeysFile || error instanceof KeysFileBusy || isSystemError(error)) {
      refuse(`${path ?? ''}: ${error.message}`);
    } else throw error;
  }
}

function refuse(reason: string): void {
  console.error(`error: ${reason}`);
  process.exitCode = 1;
}

function tableOf(keys: readonly KeyEntry[]): string {
  const rows = [
    ['KEY', 'ORGANIZATION', 'CREATED', 'REVOKED', 'LABEL'],
    ...keys.map(({ keyId, organizationId, createdAt, revokedAt, label }) => [
      keyId,
      organizationId,
      createdAt,
      revokedAt ?? '-',
      label,
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function organization(text: string): string {
  if (!isOrganizationId(text)) throw new InvalidArgumentError(`It ${ORGANIZATION_ID_RULE}.`);
  return text;
}

function label(text: string): string {
  if (!isLabel(text)) throw new InvalidArgumentError(`It ${LABEL_RULE}.`);
  return text;
}

/** From the file system, such as a folder that may not be written. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && ('syscall' in error || 'code' in error);
}
