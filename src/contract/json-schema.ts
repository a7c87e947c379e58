import type { Field, Fields, Resource, Shape } from './field.ts';
import { exampleOf } from './field.ts';
import { TIMESTAMP_PATTERN, UTC_TIMESTAMP_PATTERN } from './parameter.ts';
import type { Schema } from './parameter.ts';

/** The JSON Schema (2020-12) of an object as it is served: every field is there, what is not known is null. */
export function servedSchema(fields: Fields): Schema {
  const properties = Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: Object.keys(fields),
    additionalProperties: false,
  };
}

/** The schemas of a resource by name: one, or one for each variant and one that discriminates them by `type`. */
export function resourceSchemas({ name, description, variants }: Resource): Record<string, Schema> {
  const entries = Object.entries(variants);
  if (entries.length === 1) return { [name]: { description, ...servedSchema(entries[0][1]) } };
  const nameOf = (type: string) => type[0] + type.slice(1).toLowerCase() + name;
  const refOf = (type: string) => `#/components/schemas/${nameOf(type)}`;
  return {
    [name]: {
      description,
      oneOf: entries.map(([type]) => ({ $ref: refOf(type) })),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(entries.map(([type]) => [type, refOf(type)])),
      },
    },
    ...Object.fromEntries(entries.map(([type, fields]) => [nameOf(type), servedSchema(fields)])),
  };
}

/** An example of a resource, of its first variant. */
export function resourceExample({ variants }: Resource): Schema {
  return exampleOf(Object.values(variants)[0]);
}

function fieldSchema({ shape, description, example, required }: Field): Schema {
  const schema = shapeSchema(shape);
  const isNullable = !required && shape.kind !== 'list';
  return {
    ...schema,
    ...(isNullable && { type: [schema['type'], 'null'] }),
    description,
    // The example of an object is put together from those of its fields.
    ...(schema['type'] !== 'object' && { examples: [example] }),
  };
}

function shapeSchema(shape: Shape): Schema {
  switch (shape.kind) {
    case 'text':
      return { type: 'string', ...(shape.nonEmpty && { minLength: 1 }) };
    case 'choice':
      return { type: 'string', enum: shape.values };
    case 'timestamp':
      return { type: 'string', pattern: shape.utc ? UTC_TIMESTAMP_PATTERN : TIMESTAMP_PATTERN };
    case 'timeZone':
      return { type: 'string' };
    case 'number':
    case 'integer':
    case 'boolean':
      return { type: shape.kind };
    case 'list':
      return { type: 'array', items: shapeSchema(shape.items) };
    case 'object':
      return servedSchema(shape.fields);
    case 'anyObject':
      return { type: 'object' };
  }
}
