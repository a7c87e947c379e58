import { hash, timingSafeEqual } from 'node:crypto';
import Database from 'better-sqlite3';
import { parseCredential } from '../../src/keys/credential.ts';

export interface UsualKey {
  readonly keyId: string;
  readonly organizationId: string;
  /** SHA-256 of the secret. */
  readonly digest: Buffer;
}

/** The keys that are good, in memory, each compared as one usually does. */
export class UsualKeys {
  readonly #byOrganization: ReadonlyMap<string, readonly UsualKey[]>;

  constructor(file: string) {
    const database = new Database(file, { readonly: true, fileMustExist: true });
    const keys = database
      .prepare<[], UsualKey>(
        `SELECT key_id AS keyId, organization_id AS organizationId, digest FROM keys WHERE revoked_at IS NULL`,
      )
      .all();
    database.close();
    this.#byOrganization = Map.groupBy(keys, ({ organizationId }) => organizationId);
  }

  /** @param header value of Authorization */
  find(header: string): UsualKey | undefined {
    const credential = parseCredential(header);
    if (credential === undefined) return undefined;
    const digest = hash('sha256', credential.secret, 'buffer');
    return this.#byOrganization
      .get(credential.organizationId)
      ?.find((key) => timingSafeEqual(key.digest, digest));
  }
}
