import { useAbout } from '../../../api/queries';
import type { Webhook } from '../../../api/types';
import { faultAt } from '../../../parts/faults';
import { TextField } from '../../../parts/field';
import { invalid } from '../../../parts/invalid';
import { numberText, optionalNumber } from '../../../parts/optional-number';
import { TEXT } from '../../../text/en';
import { Setting, useDraft } from './setting';

const TEXTS = TEXT.settings.limits;

/** How long an attempt may take, and how many may begin in a second. */
export function LimitsSetting({ webhook }: { webhook: Webhook }) {
  const about = useAbout();
  const [timeoutText, setTimeoutText, resetTimeout] = useDraft(numberText(webhook.timeoutMs));
  const [rateText, setRateText, resetRate] = useDraft(numberText(webhook.maxPerSecond));
  const timeoutMs = optionalNumber(timeoutText);
  const maxPerSecond = optionalNumber(rateText);
  const wrong = Object.entries({ timeoutMs, maxPerSecond }).find(([, value]) => Number.isNaN(value));
  return (
    <Setting
      title={TEXTS.title}
      says={TEXTS.says}
      webhook={webhook}
      patch={{
        ...(timeoutMs !== webhook.timeoutMs && { timeoutMs }),
        ...(maxPerSecond !== webhook.maxPerSecond && { maxPerSecond }),
      }}
      fault={wrong ? invalid(wrong[0], TEXTS.notNumber) : null}
      fields={['timeoutMs', 'maxPerSecond']}
      onReset={() => {
        resetTimeout();
        resetRate();
      }}
    >
      {(error) => (
        <>
          <TextField
            label={TEXTS.timeout}
            hint={TEXTS.timeoutHint(about?.deliveryTimeoutMs)}
            error={faultAt(error, 'timeoutMs')}
            inputmode="numeric"
            value={timeoutText}
            onValue={setTimeoutText}
          />
          <TextField
            label={TEXTS.rate}
            hint={TEXTS.rateHint}
            error={faultAt(error, 'maxPerSecond')}
            inputmode="decimal"
            value={rateText}
            onValue={setRateText}
          />
        </>
      )}
    </Setting>
  );
}
