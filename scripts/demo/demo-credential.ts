import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatCredential, parseCredential } from '../../src/keys/credential.ts';
import { KeyRing } from '../../src/keys/key-ring.ts';
import { KeysFile, readKeys } from '../../src/keys/keys-file.ts';
import { CorruptKeysFile, KeysFileBusy } from '../../src/keys/open-keys-file.ts';
import { isSystemError, Refused } from '../run-command.ts';
import { warn } from '../terminal/print.ts';

/**
 * Returns the credential of an earlier demo if it is still valid, else that of a new key.
 * The file with the credential, beside the keys file, shows that the demo created the keys file. Another keys file is left
 * as it is.
 * @param defaultFile the keys file that belongs to the demo
 */
export function demoCredential(keysFile: string, defaultFile: string, organizationId: string): string {
  const credentialFile = `${keysFile}.demo-credential`;
  try {
    if (existsSync(keysFile)) {
      if (keysFile !== defaultFile && !existsSync(credentialFile)) {
        throw new Refused(
          `KEYS_FILE is ${keysFile}, which the demo did not create; the demo does not add its key: ` +
            'unset KEYS_FILE, or set it to a new file',
        );
      }
      const credential = validCredential(keysFile, credentialFile, organizationId);
      if (credential !== undefined) return credential;
    } else mkdirSync(dirname(keysFile), { recursive: true });
    const key = new KeysFile(keysFile).create(organizationId, 'demo', new Date());
    const credential = formatCredential(key);
    writeFileSync(credentialFile, `${credential}\n`, { mode: 0o600 });
    return credential;
  } catch (error) {
    if (!(error instanceof KeysFileBusy || isSystemError(error))) throw error;
    throw new Refused(`KEYS_FILE is ${keysFile}: the demo cannot use it: ${error.message}`);
  }
}

/** Returns the stored credential if it is valid. Removes a keys file that cannot be read. */
function validCredential(
  keysFile: string,
  credentialFile: string,
  organizationId: string,
): string | undefined {
  try {
    const keys = new KeyRing(readKeys(keysFile));
    if (!existsSync(credentialFile)) return undefined;
    const text = readFileSync(credentialFile, 'utf8').trim();
    const credential = parseCredential(`Bearer ${text}`);
    const isValid =
      credential?.organizationId === organizationId &&
      keys.check(organizationId, credential.secret, Date.now()).outcome === 'valid';
    return isValid ? text : undefined;
  } catch (error) {
    if (!(error instanceof CorruptKeysFile)) throw error;
    warn(`The demo replaces ${keysFile}: ${error.message}.`);
    for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(keysFile + ending, { force: true });
    return undefined;
  }
}
