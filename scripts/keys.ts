import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { readConfig } from '../src/config.ts';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../src/contract/headers.ts';
import { formatCredential } from '../src/keys/credential.ts';
import { stateOf } from '../src/keys/key-ring.ts';
import { isLabel, type KeyEntry, KeysFile, LABEL_RULE, type NewKey } from '../src/keys/keys-file.ts';
import { CorruptKeysFile, KeysFileBusy } from '../src/keys/open-keys-file.ts';
import { manifestsIn } from '../src/snapshot/publish/publish-snapshot.ts';
import { DAY_MS, duration, DURATION_FORM, durationMs, INSTANT_FORM, instantMs } from './times.ts';
import { commandLine, isSystemError, JSON_OPTION, printJson, Refused, runCommand } from './run-command.ts';
import { print, warn } from './terminal/print.ts';
import { fields, left, table } from './terminal/table.ts';

const DEFAULT_OVERLAP_MS = DAY_MS;

const KEY_ID_HELP = 'key id, as `list` shows it';
const EXPIRES = '--expires <WHEN>';
const EXPIRES_HELP = `expiry of the key: an ISO 8601 date and time, or ${DURATION_FORM} (default: none)`;

interface FileOption {
  file?: string;
}

const program = commandLine(
  'keys',
  'Creates, rotates, lists and revokes API keys. A running server detects changes by itself.',
);

command('create')
  .description('Creates a key and prints its credential, once.')
  .requiredOption('--organization <ID>', 'organization whose records the key can read', organization)
  .option('--label <TEXT>', 'holder or purpose of the key', label)
  .option(EXPIRES, EXPIRES_HELP, expiry)
  .action((options: FileOption & { organization: string; label?: string; expires?: Date }) => {
    const { organization: organizationId, label: text = '', expires } = options;
    onFile(options, (file, path) => {
      const { snapshotDir } = readConfig();
      printKey(file.create(organizationId, text, new Date(), expires), path, expires);
      warnWithoutData(organizationId, snapshotDir);
    });
  });

command('rotate')
  .description('Replaces a key: creates one of the same organization and label, and lets the old one expire.')
  .argument('<KEY_ID>', KEY_ID_HELP)
  .option('--overlap <DURATION>', 'time for which the old key stays valid (default: 24h)', duration)
  .option(EXPIRES, EXPIRES_HELP, expiry)
  .action((keyId: string, options: FileOption & { overlap?: number; expires?: Date }) => {
    const { overlap = DEFAULT_OVERLAP_MS, expires } = options;
    onFile(options, (file, path) => {
      const rotation = file.rotate(keyId, overlap, new Date(), expires);
      if (rotation === 'unknown') throw noSuchKey(keyId);
      if (typeof rotation === 'string') {
        throw refusal(`key ${keyId} is ${rotation}; \`create\` creates a new key`);
      }
      print(`${keyId} is valid until ${rotation.formerExpiresAt}.`);
      printKey(rotation.key, path, expires);
    });
  });

command('list')
  .description('Lists all keys, without their secrets.')
  .option(...JSON_OPTION)
  .action((options: FileOption & { json?: true }) => {
    onFile(options, (file) => {
      const keys = file.list();
      if (options.json) printJson({ keys: keys.map(described) });
      else print(tableOf(keys));
    });
  });

command('revoke')
  .description('Revokes a key permanently.')
  .argument('<KEY_ID>', KEY_ID_HELP)
  .action((keyId: string, options: FileOption) => {
    onFile(options, (file) => {
      const revocation = file.revoke(keyId, new Date());
      if (revocation === undefined) throw noSuchKey(keyId);
      if (revocation.already) print(`${keyId} is already revoked, since ${revocation.revokedAt}.`);
      else print(`${keyId} is revoked.`);
    });
  });

/** Runs the command line. Returns the exit status. */
export function main(argv: readonly string[]): Promise<number> {
  return runCommand(program, argv);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

function command(name: string): Command {
  return program.command(name).option('--file <PATH>', 'keys file (default: the value of KEYS_FILE)');
}

function onFile(options: FileOption, use: (file: KeysFile, path: string) => void): void {
  let path = options.file;
  try {
    path ??= readConfig().keysFile;
    use(new KeysFile(path), path);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') {
      throw refusal(withoutFile(path ?? ''));
    }
    if (error instanceof CorruptKeysFile || error instanceof KeysFileBusy || isSystemError(error)) {
      throw refusal(`${path ?? ''}: ${error.message}`);
    }
    throw error;
  }
}

/**
 * Returns the reason why a keys file is missing. Commands do not create its folder: a mistyped KEYS_FILE would
 * otherwise name a new file that no replica reads.
 */
function withoutFile(path: string): string {
  const folder = dirname(path);
  return existsSync(folder)
    ? `keys file ${path} does not exist; \`create\` creates it with the first key`
    : `keys file ${path}: its folder does not exist; if the name is right, create it: mkdir -p ${folder}`;
}

/**
 * Warns on standard error if no snapshot of a folder holds the organization: its key gets 429 until one is published.
 */
function warnWithoutData(organizationId: string, folder: string): void {
  if (holdsOrganization(folder, organizationId)) return;
  warn(
    `warning: no snapshot in ${resolve(folder)} (SNAPSHOT_DIR) holds organization "${organizationId}"; ` +
      'requests with the key get 429 until one is published',
  );
}

/** Returns whether a snapshot of the folder holds an organization. Files and folders that cannot be read hold none. */
function holdsOrganization(folder: string, organizationId: string): boolean {
  try {
    return manifestsIn(folder).some(([, { organizations }]) =>
      organizations.some((organization) => organization.organizationId === organizationId),
    );
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

function refusal(reason: string): Refused {
  return new Refused(`error: ${reason}`);
}

function noSuchKey(keyId: string): Refused {
  return refusal(`key ${keyId} does not exist; \`list\` shows all keys`);
}

function printKey({ keyId, ...credential }: NewKey, path: string, expiresAt: Date | undefined): void {
  print(
    fields({
      key: keyId,
      organization: credential.organizationId,
      expires: expiresAt?.toISOString() ?? 'never',
      'keys file': resolve(path),
    }),
  );
  print('The credential is not stored and cannot be shown again:');
  print(formatCredential(credential));
}

/** Returns a key as the list shows it. */
function described({ keyId, organizationId, createdAt, expiresAt, revokedAt, label }: KeyEntry) {
  const state = stateOf({ expiresAt, revokedAt }, Date.now());
  return { keyId, organizationId, state, createdAt, expiresAt, revokedAt, label };
}

function tableOf(keys: readonly KeyEntry[]): string {
  const titles = ['KEY', 'ORGANIZATION', 'STATE', 'CREATED', 'EXPIRES', 'REVOKED', 'LABEL'];
  return table(
    titles.map(left),
    keys.map((key) => Object.values(described(key)).map((value) => value ?? '-')),
  );
}

function organization(text: string): string {
  if (!isOrganizationId(text)) throw new InvalidArgumentError(`It ${ORGANIZATION_ID_RULE}.`);
  return text;
}

function label(text: string): string {
  if (!isLabel(text)) throw new InvalidArgumentError(`It ${LABEL_RULE}.`);
  return text;
}

/** Parses an instant, or a duration from now. */
function expiry(text: string): Date {
  const now = Date.now();
  const [instant, span] = [instantMs(text), durationMs(text)];
  if (instant === undefined && span === undefined)
    throw new InvalidArgumentError(`It must be ${INSTANT_FORM}, or ${DURATION_FORM}.`);
  const end = new Date(instant ?? now + (span ?? 0));
  // A later year has no form with four digits.
  if (end.getTime() <= now || end.getUTCFullYear() > 9999) {
    throw new InvalidArgumentError('It must be in the future and before the year 10000.');
  }
  return end;
}
