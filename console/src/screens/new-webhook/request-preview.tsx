import { useAbout } from '../../api/queries';
import type { EventType } from '../../api/types';
import { covers } from '../../parts/event-names';
import { plainOf } from '../../parts/plain';
import { TEXT } from '../../text/en';
import type { Entered } from './new-body';

/** What the receiver or a consumer will get. */
export function RequestPreview({
  kind,
  types,
  events,
}: Pick<Entered, 'kind' | 'events'> & { types: readonly EventType[] }) {
  const [prefix = 'x-service'] = useAbout()?.headerPrefixes ?? [];
  const type = types.find(({ name }) => events.some((each) => covers(each, name))) ?? types[0];
  if (!type) return null;
  const body = { id: '0199c3a4-…', event: type.name, createdAt: '2026-01-31T12:00:00.000Z', data: type.example };
  const headers = ['content-type: application/json', `${prefix}-event: ${type.name}`];
  const signatures = [`${prefix}-signature`, 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return (
    <section class="message" aria-labelledby="preview">
      <h2 id="preview">{kind === 'push' ? TEXT.newWebhook.preview : TEXT.pull.preview}</h2>
      <pre tabIndex={0}>
        {[...headers, ...signatures.map((name) => `${name}: …`), '', plainOf(JSON.stringify(body, null, 2))].join('\n')}
      </pre>
    </section>
  );
}
