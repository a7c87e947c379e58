import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { inOpenApi30 } from '../src/contract/openapi/openapi-3.0.ts';
import { openApiDocument } from '../src/contract/openapi/document.ts';
import { RELEASES } from '../src/contract/releases.ts';

/** Checks both forms of the OpenAPI document against OpenAPI's schema and Redocly's recommended rules. */

const document = openApiDocument(RELEASES);
const config = await createConfig({ extends: ['recommended'] });

for (const [name, form] of Object.entries({
  'OpenAPI 3.1': document,
  'OpenAPI 3.0': inOpenApi30(document),
})) {
  const source = JSON.stringify(form, undefined, 2);
  const { valid, errors } = await new Validator().validate(source);
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  if (!valid) console.error(`${name}: schema:`, JSON.stringify(errors, undefined, 2));
  for (const { severity, ruleId, message, location } of problems) {
    const places = location.map(({ pointer }) => pointer).join(' ');
    console.error(`${name}: ${severity} ${ruleId}: ${message} (${places})`);
  }
  if (!valid || problems.length > 0) process.exitCode = 1;
  else console.log(`The document in ${name} is valid and free of lint.`);
}
