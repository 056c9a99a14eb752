import { useMutation } from '@tanstack/preact-query';
import { useAbout } from '../../api/queries';
import { useSigned } from '../../api/signed';
import type { EventType, TryReceiver } from '../../api/types';
import { EventPicker } from '../../parts/event-picker';
import { faultAt } from '../../parts/faults';
import { TextField } from '../../parts/field';
import { Problem } from '../../parts/problem';
import { TEXT } from '../../text/en';
import { KindChoice } from './kind-choice';
import type { Entered } from './new-body';

/** The fields of a new webhook; a pull webhook has no URL. */
export function WebhookFields({
  form: { kind, url, events, secret, description, idleSeconds },
  onChange,
  error,
  types,
}: {
  form: Entered;
  onChange: (next: Partial<Entered>) => void;
  error: unknown;
  types: readonly EventType[];
}) {
  return (
    <>
      <KindChoice chosen={kind} onChange={(next) => onChange({ kind: next })} />
      {kind === 'push' && <UrlField url={url} error={error} onUrl={(next) => onChange({ url: next })} />}
      <EventPicker
        types={types}
        chosen={events}
        onChange={(next) => onChange({ events: next })}
        error={faultAt(error, 'events')}
      />
      <TextField
        label={TEXT.newWebhook.description}
        error={faultAt(error, 'description')}
        value={description}
        onValue={(next) => onChange({ description: next })}
      />
      {kind === 'pull' && (
        <TextField
          label={TEXT.pull.idleSetting.label}
          hint={TEXT.pull.idleSetting.hint}
          error={faultAt(error, 'idleSeconds')}
          inputmode="numeric"
          value={idleSeconds}
          onValue={(next) => onChange({ idleSeconds: next })}
        />
      )}
      <TextField
        label={TEXT.newWebhook.secret}
        hint={TEXT.newWebhook.secretSays}
        error={faultAt(error, 'secret')}
        autocomplete="off"
        spellcheck={false}
        value={secret}
        onValue={(next) => onChange({ secret: next })}
      />
    </>
  );
}

function UrlField({ url, error, onUrl }: { url: string; error: unknown; onUrl: (next: string) => void }) {
  return (
    <>
      <TextField
        label={TEXT.newWebhook.url}
        hint={hintOf(url)}
        error={faultAt(error, 'url')}
        type="url"
        required
        placeholder="https://"
        spellcheck={false}
        value={url}
        onValue={onUrl}
      />
      <UseReceiver onUrl={onUrl} />
    </>
  );
}

/** Fills in the address of the receiver inside this service, where there is one. */
function UseReceiver({ onUrl }: { onUrl: (url: string) => void }) {
  const { api, may } = useSigned();
  const about = useAbout();
  const make = useMutation({
    mutationFn: () => api.send<TryReceiver>('POST', 'try-receivers'),
    onSuccess: ({ url }) => onUrl(url),
  });
  if (!about?.tryReceiver) return null;
  return (
    <p>
      <button
        type="button"
        class="button"
        disabled={!may('webhooks:write') || make.isPending}
        onClick={() => make.mutate()}
      >
        {TEXT.newWebhook.useReceiver}
      </button>
      {make.isError && <Problem error={make.error} />}
    </p>
  );
}

/** What a URL still lacks while one types it. */
function hintOf(url: string): string | null {
  if (url === '') return null;
  const parsed = URL.parse(url);
  if (!parsed) return TEXT.newWebhook.noUrl;
  return /^https?:$/.test(parsed.protocol) ? null : TEXT.newWebhook.noHttp;
}
