import type { Webhook } from '../../../api/types';
import { faultAt } from '../../../parts/faults';
import { TextField } from '../../../parts/field';
import { TEXT } from '../../../text/en';
import { Setting, useDraft } from './setting';

/** The description, which is the name. */
export function NameSetting({ webhook }: { webhook: Webhook }) {
  const stored = webhook.description ?? '';
  const [description, setDescription, reset] = useDraft(stored);
  const { title, says, hint } = TEXT.settings.name;
  return (
    <Setting
      {...{ title, says, webhook }}
      patch={description === stored ? {} : { description: description || null }}
      fields={['description']}
      onReset={reset}
    >
      {(error) => (
        <TextField
          label={TEXT.newWebhook.description}
          hint={hint}
          error={faultAt(error, 'description')}
          value={description}
          onValue={setDescription}
        />
      )}
    </Setting>
  );
}
