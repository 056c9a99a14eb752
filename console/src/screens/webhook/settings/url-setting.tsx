import type { Webhook } from '../../../api/types';
import { faultAt } from '../../../parts/faults';
import { TextField } from '../../../parts/field';
import { TEXT } from '../../../text/en';
import { leavesOrigin } from './header-rows';
import { Setting, useDraft } from './setting';

const TEXTS = TEXT.settings.url;

/** The URL, and the headers that must be entered again for another origin. */
export function UrlSetting({ webhook }: { webhook: Webhook }) {
  const stored = webhook.url ?? '';
  const [url, setUrl, resetUrl] = useDraft(stored);
  const [values, setValues, resetValues] = useDraft<Readonly<Record<string, string>>>({});
  const bound = leavesOrigin(stored, url) ? Object.keys(webhook.headers) : [];
  const headers = Object.fromEntries(bound.map((name) => [name, values[name] || null]));
  const patch = { url, ...(bound.length > 0 && { headers }) };
  return (
    <Setting
      title={TEXTS.title}
      says={TEXTS.says}
      webhook={webhook}
      patch={url === stored ? {} : patch}
      fields={['url', ...(bound.length > 0 ? (['headers'] as const) : [])]}
      onReset={() => {
        resetUrl();
        resetValues();
      }}
    >
      {(error) => (
        <>
          <TextField
            label={TEXT.newWebhook.url}
            error={faultAt(error, 'url')}
            type="url"
            required
            spellcheck={false}
            value={url}
            onValue={setUrl}
          />
          {bound.length > 0 && <p class="small">{TEXTS.bound}</p>}
          {bound.map((name) => (
            <TextField
              key={name}
              label={TEXTS.value(name)}
              hint={TEXTS.emptyRemoves}
              error={faultAt(error, `headers.${name}`)}
              autocomplete="off"
              spellcheck={false}
              value={values[name] ?? ''}
              onValue={(value) => setValues({ ...values, [name]: value })}
            />
          ))}
        </>
      )}
    </Setting>
  );
}
