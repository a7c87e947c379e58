import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, rmSync, writeFileSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../contract/headers.ts';
import { parseTimestamp } from '../contract/timestamp.ts';
import { type Credential, DIGEST_BYTES, digestOf, newSecret } from './credential.ts';
import { endOf, type KeyRow, stateOf } from './key-ring.ts';
import { CorruptKeysFile, EMPTY_KEYS_FILE, withKeysFile } from './open-keys-file.ts';

export interface KeyEntry extends Omit<KeyRow, 'digest'> {
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

export interface NewKey extends Credential {
  readonly keyId: string;
}

export const LABEL_RULE = 'must be at most 200 characters without line breaks or other control characters';

const KEY_ID_BYTES = 6;
/** As of a snapshot: in a folder with the set-group-ID bit, the group of the process reads the file. */
const FILE_MODE = 0o640;

const COLUMNS = `key_id AS keyId, organization_id AS organizationId, label, expires_at AS expiresAt,
  revoked_at AS revokedAt`;
const SELECT_ENTRIES = `SELECT ${COLUMNS}, created_at AS createdAt FROM keys`;

export function isLabel(text: string): boolean {
  return /^\P{Cc}{0,200}$/u.test(text);
}

/**
 * Writes a keys file. Each method opens the file, and returns after its change is on disk. A method throws
 * CorruptKeysFile, KeysFileBusy or the system's error when the file cannot be used.
 */
export class KeysFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Creates a key, and the file if it does not exist, in an existing folder. Only the returned value holds the secret.
   * @param expiresAt time from which on the key is refused; by default it does not expire
   * @throws RangeError when the organization id or the label breaks its rule
   */
  create(organizationId: string, label: string, now: Date, expiresAt?: Date): NewKey {
    if (!isOrganizationId(organizationId)) throw new RangeError(`organizationId ${ORGANIZATION_ID_RULE}`);
    if (!isLabel(label)) throw new RangeError(`label ${LABEL_RULE}`);
    if (!existsSync(this.#path)) createKeysFile(this.#path);
    return this.#write((database) => insertKey(database, { organizationId, label }, now, expiresAt));
  }

  /**
   * Creates a key of the same organization and label as a valid key, and lets the former one expire.
   * @param overlapMs time for which both keys are valid, unless the former one expires earlier
   * @returns the new key, and the end of the former one: of the overlap, or its own expiry if that is earlier; or the
   *   reason if there is no such valid key
   */
  rotate(keyId: string, overlapMs: number, now: Date, expiresAt?: Date) {
    return this.#write((database) => {
      const former = database.prepare<[string], KeyEntry>(`${SELECT_ENTRIES} WHERE key_id = ?`).get(keyId);
      if (former === undefined) return 'unknown' as const;
      const state = stateOf(former, now.getTime());
      if (state !== 'valid') return state;
      const end = Math.min(endOf(former.expiresAt), now.getTime() + overlapMs);
      const formerExpiresAt = new Date(end).toISOString();
      database.prepare('UPDATE keys SET expires_at = ? WHERE key_id = ?').run(formerExpiresAt, keyId);
      return { key: insertKey(database, former, now, expiresAt), formerExpiresAt };
    });
  }

  /** Lists all keys, in order of creation. */
  list(): KeyEntry[] {
    return withKeysFile(this.#path, 'recover', (database) =>
      database.prepare<[], KeyEntry>(`${SELECT_ENTRIES} ORDER BY created_at, key_id`).all(),
    );
  }

  /** Revokes a key permanently. Returns the time of its first revocation; undefined when there is no such key. */
  revoke(keyId: string, now: Date): { readonly revokedAt: string; readonly already: boolean } | undefined {
    return this.#write((database) => {
      const { changes } = database
        .prepare('UPDATE keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL')
        .run(now.toISOString(), keyId);
      const revokedAt = database
        .prepare<[string], string>('SELECT revoked_at FROM keys WHERE key_id = ?')
        .pluck()
        .get(keyId);
      return revokedAt === undefined ? undefined : { revokedAt, already: changes === 0 };
    });
  }

  #write<T>(change: (database: Database.Database) => T): T {
    return withKeysFile(this.#path, 'write', change);
  }
}

function insertKey(
  database: Database.Database,
  { organizationId, label }: Pick<KeyEntry, 'organizationId' | 'label'>,
  now: Date,
  expiresAt?: Date,
): NewKey {
  const keyId = `key_${randomBytes(KEY_ID_BYTES).toString('hex')}`;
  const secret = newSecret();
  const digest = Buffer.from(digestOf(secret), 'hex');
  database
    .prepare(
      'INSERT INTO keys (key_id, organization_id, label, digest, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
    )
    .run(keyId, organizationId, label, digest, now.toISOString(), expiresAt?.toISOString());
  return { keyId, organizationId, secret };
}

/**
 * Creates an empty keys file. It appears by a link that fails if the file exists, so no reader sees an incomplete
 * file.
 */
function createKeysFile(path: string): void {
  const draft = `${path}.${randomBytes(4).toString('hex')}.new`;
  try {
    writeFileSync(draft, EMPTY_KEYS_FILE, { flag: 'wx', flush: true });
    chmodSync(draft, FILE_MODE);
    linkSync(draft, path);
  } catch (error) {
    // Another process may have created the file since the check.
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Reads a keys file. Leaves the file and its folder unchanged.
 * @throws CorruptKeysFile, KeysFileBusy, or the system's error (ENOENT when there is no file)
 */
export function readKeys(path: string): readonly KeyRow[] {
  const rows = withKeysFile(path, 'read', (database) =>
    database.prepare<[], KeyRow>(`SELECT ${COLUMNS}, digest FROM keys`).all(),
  );
  for (const { keyId, organizationId, digest, expiresAt } of rows) {
    if (digest.length !== DIGEST_BYTES)
      throw new CorruptKeysFile(`the digest of key ${keyId} has ${digest.length} bytes, not ${DIGEST_BYTES}`);
    if (!isOrganizationId(organizationId)) {
      throw new CorruptKeysFile(`the organization of key ${keyId} ${ORGANIZATION_ID_RULE}`);
    }
    if (expiresAt !== null && parseTimestamp(expiresAt) === undefined) {
      throw new CorruptKeysFile(
        `the expiry of key ${keyId} must be an ISO 8601 date and time with an offset`,
      );
    }
  }
  return rows;
}
