import { KeysFile } from '../../src/keys/keys-file.ts';

/** Creates a number of keys, and revokes every second one. */
const [path = '', organizationId = '', count = '0'] = process.argv.slice(2);
const file = new KeysFile(path);
for (let i = 0; i < Number(count); i++) {
  const { keyId } = file.create(organizationId, '', new Date());
  if (i % 2 === 1) file.revoke(keyId, new Date());
}
