/** What an organization's id must be, since it travels in the credential `svc:o:<organization_id>:<key>`. */
export const ORGANIZATION_ID_RULE = 'must be 1 to 128 characters of visible ASCII without ":"';

export function isOrganizationId(text: string): boolean {
  return /^[\x21-\x39\x3b-\x7e]{1,128}$/.test(text);
}
