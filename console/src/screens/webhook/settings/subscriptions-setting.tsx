import { useEventTypes } from '../../../api/queries';
import type { Webhook } from '../../../api/types';
import { EventPicker } from '../../../parts/event-picker';
import { faultAt } from '../../../parts/faults';
import { TEXT } from '../../../text/en';
import { Setting, useDraft } from './setting';

/** The event types that the webhook receives. */
export function SubscriptionsSetting({ webhook }: { webhook: Webhook }) {
  const types = useEventTypes();
  const [events, setEvents, reset] = useDraft<readonly string[]>(webhook.events);
  const isSame = [...events].sort().join() === [...webhook.events].sort().join();
  const { title, says } = TEXT.settings.events;
  return (
    <Setting
      {...{ title, says, webhook }}
      patch={isSame ? {} : { events: [...events] }}
      fields={['events']}
      onReset={reset}
    >
      {(error) => (
        <EventPicker types={types.data ?? []} chosen={events} onChange={setEvents} error={faultAt(error, 'events')} />
      )}
    </Setting>
  );
}
