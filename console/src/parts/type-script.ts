/** The part of JSON Schema that event types are written in. */
export interface JsonSchema {
  type?: string | string[];
  format?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
}

/** A type for the data of such an event. What cannot be said in it is `unknown`. */
export const typeScriptOf = (name: string, schema: JsonSchema): string =>
  `export interface ${nameOf(name)} ${bodyOf(schema, '')}\n`;

const nameOf = (name: string): string =>
  name
    .split(/[._-]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
    .replace(/^(?![A-Z])/, 'Event');

function bodyOf({ properties = {}, required = [] }: JsonSchema, indent: string): string {
  const fields = Object.entries(properties).map(([name, field]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${indent}  ${key}${required.includes(name) ? '' : '?'}: ${typeOf(field, `${indent}  `)};\n`;
  });
  return fields.length === 0 ? '{ [key: string]: unknown }' : `{\n${fields.join('')}${indent}}`;
}

function typeOf(schema: JsonSchema, indent: string): string {
  const choices = schema.anyOf ?? schema.oneOf;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' | ');
  if (choices) return choices.map((each) => typeOf(each, indent)).join(' | ');
  return [schema.type ?? 'unknown']
    .flat()
    .map((type) => {
      if (type === 'object') return bodyOf(schema, indent);
      if (type === 'array') return `Array<${schema.items ? typeOf(schema.items, indent) : 'unknown'}>`;
      return type === 'integer' ? 'number' : type;
    })
    .join(' | ');
}
