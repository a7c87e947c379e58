import { id, text, texts } from '../../contract/field.ts';
import type { Fields } from '../../contract/field.ts';
import { COLLECTIONS } from '../format/layout.ts';
import type { CollectionLayout } from '../format/layout.ts';

/** The files of an import folder, one JSON object a line. Any may be compressed, `.ndjson.gz`. */

export const ORGANIZATIONS_FILE = 'organizations';

/** Fields that an import record carries beside those that are served. */
const ORGANIZATION_ID = id('Organization of the record.', 'org_1');
export const ORGANIZATION_FIELDS: Fields = {
  organizationId: ORGANIZATION_ID,
  name: text('Name, for people.', 'Théâtre'),
};

const ASIDE: Readonly<Record<string, Fields>> = {
  sessions: { eventId: id('Event of the session.', 'evt_42') },
  offers: { heldByEventIds: texts('Events that hold a PRODUCT or BUNDLE.', ['evt_42']) },
};

export function asideFields({ name }: CollectionLayout): Fields {
  return { organizationId: ORGANIZATION_ID, ...ASIDE[name] };
}

export const IMPORT_FILES: readonly string[] = [ORGANIZATIONS_FILE, ...COLLECTIONS.map(({ name }) => name)];
