import { Command, InvalidArgumentError } from 'commander';
import { InvalidConfig, readConfig } from '../src/config.ts';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../src/contract/headers.ts';
import { formatCredential } from '../src/keys/credential.ts';
import { isLabel, type KeyEntry, KeysFile, LABEL_RULE } from '../src/keys/keys-file.ts';
import { CorruptKeysFile, KeysFileBusy } from '../src/keys/open-keys-file.ts';
import { isSystemError, Refused, runCommand } from './run-command.ts';

interface FileOption {
  file?: string;
}

const program = new Command('keys').description(
  'Creates, lists and revokes API keys. A running server detects changes by itself.',
);

command('create')
  .description('Create a key and print its credential, once.')
  .requiredOption('--organization <ID>', 'organization whose records the key can read', organization)
  .option('--label <TEXT>', 'holder or purpose of the key', label)
  .action((options: FileOption & { organization: string; label?: string }) => {
    onFile(options, (file) => {
      const { keyId, ...credential } = file.create(options.organization, options.label ?? '', new Date());
      console.log(`${keyId} can read the records of ${options.organization}.`);
      console.log('Its credential is not stored and cannot be shown again:');
      console.log(formatCredential(credential));
    });
  });

command('list')
  .description('List all keys, without their secrets.')
  .action((options: FileOption) => {
    onFile(options, (file) => {
      console.log(tableOf(file.list()));
    });
  });

command('revoke')
  .description('Revoke a key permanently.')
  .argument('<KEY_ID>', 'key id, as `list` shows it')
  .action((keyId: string, options: FileOption) => {
    onFile(options, (file) => {
      const revocation = file.revoke(keyId, new Date());
      if (revocation === undefined) throw refusal(`key ${keyId} does not exist; \`list\` shows all keys`);
      if (revocation.already) console.log(`${keyId} is already revoked, since ${revocation.revokedAt}.`);
      else console.log(`${keyId} is revoked.`);
    });
  });

/** Runs the command line. Returns the exit status. */
export function main(argv: readonly string[]): Promise<number> {
  return runCommand(program, argv);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

function command(name: string): Command {
  return program
    .command(name)
    .option('--file <PATH>', 'keys file (default: the value of KEYS_FILE)')
    .allowExcessArguments(false);
}

function onFile(options: FileOption, use: (file: KeysFile) => void): void {
  let path = options.file;
  try {
    path ??= readConfig().keysFile;
    use(new KeysFile(path));
  } catch (error) {
    if (error instanceof InvalidConfig) throw refusal(error.message);
    if (isSystemError(error) && error.code === 'ENOENT') {
      throw refusal(`keys file ${path ?? ''} does not exist; \`create\` creates it with the first key`);
    }
    if (error instanceof CorruptKeysFile || error instanceof KeysFileBusy || isSystemError(error)) {
      throw refusal(`${path ?? ''}: ${error.message}`);
    }
    throw error;
  }
}

function refusal(reason: string): Refused {
  return new Refused(`error: ${reason}`);
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
