import type { Webhook } from '../../../api/types';
import { faultAt } from '../../../parts/faults';
import { TextField } from '../../../parts/field';
import { invalid } from '../../../parts/invalid';
import { numberText, optionalNumber } from '../../../parts/optional-number';
import { TEXT } from '../../../text/en';
import { Setting, useDraft } from './setting';

const TEXTS = TEXT.pull.idleSetting;

/** How long a pull webhook is kept while no consumer asks for its events. */
export function IdleSetting({ webhook }: { webhook: Webhook }) {
  const [text, setText, reset] = useDraft(numberText(webhook.idleSeconds));
  const idleSeconds = optionalNumber(text);
  return (
    <Setting
      title={TEXTS.title}
      says={TEXTS.says}
      webhook={webhook}
      patch={idleSeconds === webhook.idleSeconds ? {} : { idleSeconds }}
      fault={Number.isNaN(idleSeconds) ? invalid('idleSeconds', TEXT.settings.limits.notNumber) : null}
      fields={['idleSeconds']}
      onReset={reset}
    >
      {(error) => (
        <TextField
          label={TEXTS.label}
          hint={TEXTS.hint}
          error={faultAt(error, 'idleSeconds')}
          inputmode="numeric"
          value={text}
          onValue={setText}
        />
      )}
    </Setting>
  );
}
