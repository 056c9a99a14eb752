import { useAbout } from '../../../api/queries';
import type { Webhook } from '../../../api/types';
import { faultAt } from '../../../parts/faults';
import { TextField } from '../../../parts/field';
import { invalid } from '../../../parts/invalid';
import { Segmented } from '../../../parts/segmented';
import { TEXT } from '../../../text/en';
import { delaysOf, delaysText, exactLength } from './delays';
import { Setting, useDraft } from './setting';

const TEXTS = TEXT.settings.retries;

/** The service's plan of retries, or one of the owner. */
export function RetriesSetting({ webhook }: { webhook: Webhook }) {
  const about = useAbout();
  const stored = webhook.retryDelaysMs;
  const [text, setText, reset] = useDraft(stored && delaysText(stored));
  const parsed = text === null ? null : delaysOf(text);
  const isWrong = parsed !== null && 'wrong' in parsed;
  const retryDelaysMs = parsed === null || isWrong ? null : parsed.delays;
  const isSame = JSON.stringify(retryDelaysMs) === JSON.stringify(stored);
  return (
    <Setting
      title={TEXTS.title}
      says={TEXTS.says}
      webhook={webhook}
      patch={isWrong || isSame ? {} : { retryDelaysMs }}
      fault={isWrong ? invalid('retryDelaysMs', TEXTS.wrong(parsed.wrong)) : null}
      fields={['retryDelaysMs']}
      onReset={reset}
    >
      {(error) => (
        <>
          <Segmented
            name={TEXTS.plan}
            options={[
              ['service', TEXTS.service],
              ['own', TEXTS.own],
            ]}
            value={text === null ? 'service' : 'own'}
            onChange={(next) => setText(next === 'service' ? null : delaysText(stored ?? about?.retryDelaysMs ?? []))}
          />
          {text !== null && (
            <TextField
              label={TEXTS.delays}
              hint={TEXTS.hint(about?.maxRetries)}
              error={faultAt(error, 'retryDelaysMs')}
              spellcheck={false}
              value={text}
              onValue={setText}
            />
          )}
          {!isWrong && <p>{planText(retryDelaysMs ?? about?.retryDelaysMs ?? [])}</p>}
        </>
      )}
    </Setting>
  );
}

function planText(delays: readonly number[]): string {
  if (delays.length === 0) return TEXTS.none;
  const total = delays.reduce((sum, delay) => sum + delay, 0);
  return TEXTS.sentence(delays.map(exactLength), exactLength(total));
}
