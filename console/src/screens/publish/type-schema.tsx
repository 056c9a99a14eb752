import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import type { EventType } from '../../api/types';
import { plainOf } from '../../parts/plain';
import { SchemaFields } from '../../parts/schema-fields';
import type { JsonSchema } from '../../parts/type-script';
import { TEXT } from '../../text/en';

/** As in narrow.css. */
const WIDE = '(min-width: 56.26rem)';

/** The fields of the chosen type; collapsed at first on narrow screens, where they follow the form. */
export function TypeSchema({ type }: { type: EventType }) {
  const [isWide] = useState(() => matchMedia(WIDE).matches);
  return (
    <details class="card type-schema" open={isWide}>
      <summary>
        <h2>{TEXT.publish.schema}</h2>
      </summary>
      <p class="muted">{plainOf(type.description)}</p>
      <SchemaFields schema={type.schema as JsonSchema} />
      <p>
        <Link href={encoded`/event-types/${type.name}`}>{TEXT.publish.moreAbout}</Link>
      </p>
    </details>
  );
}
