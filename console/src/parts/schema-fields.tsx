import { TEXT } from '../text/en';
import { plainOf } from './plain';
import type { JsonSchema } from './type-script';

interface Field {
  /** Such as `follower.id` or `lines[].cents`. */
  path: string;
  schema: JsonSchema;
  isOptional: boolean;
}

const MOST_LEVELS = 8;

/** The fields of an event type, those of inner objects by their path, with type and description. */
export function SchemaFields({ schema }: { schema: JsonSchema }) {
  const fields = fieldsOf(schema);
  if (fields.length === 0) return <p class="muted">{TEXT.publish.anyData}</p>;
  return (
    <table class="log">
      <thead>
        <tr>
          <th scope="col">{TEXT.eventTypes.field}</th>
          <th scope="col">{TEXT.eventTypes.type}</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ path, schema: field, isOptional }) => (
          <tr key={path}>
            <td>
              <code>{plainOf(path)}</code>
              {isOptional && <span class="muted small"> {TEXT.eventTypes.optional}</span>}
              {field.description && <p class="muted small">{plainOf(field.description)}</p>}
            </td>
            <td class="muted">{plainOf(typeOf(field))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function fieldsOf({ properties = {}, required = [] }: JsonSchema, prefix = '', level = 1): Field[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    const field = { path, schema, isOptional: !required.includes(name) };
    if (level === MOST_LEVELS) return [field];
    const inner = schema.items
      ? fieldsOf(schema.items, `${path}[].`, level + 1)
      : fieldsOf(schema, `${path}.`, level + 1);
    return [field, ...inner];
  });
}

function typeOf({ type = [], format, enum: values }: JsonSchema): string {
  const named = [type, format ?? []].flat();
  return values ? values.map((each) => JSON.stringify(each)).join(' | ') : named.join(', ') || TEXT.publish.anyType;
}
