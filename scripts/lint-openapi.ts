import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openApiDocument } from '../src/contract/openapi/document.ts';
import { RELEASES } from '../src/contract/releases.ts';

/** Checks the OpenAPI document against OpenAPI's schema and Redocly's recommended rules. */

const document = openApiDocument(RELEASES);
const source = JSON.stringify(document, undefined, 2);

const { valid, errors } = await new Validator().validate({ ...document });
const config = await createConfig({ extends: ['recommended'] });
const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });

if (!valid) console.error('schema:', JSON.stringify(errors, undefined, 2));
for (const { severity, ruleId, message, location } of problems) {
  console.error(`${severity} ${ruleId}: ${message} (${location.map(({ pointer }) => pointer).join(' ')})`);
}
if (!valid || problems.length > 0) process.exitCode = 1;
else console.log('The OpenAPI document is valid and free of lint.');
