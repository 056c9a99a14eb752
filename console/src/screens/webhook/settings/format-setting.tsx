import { useQuery } from '@tanstack/preact-query';
import { useId } from 'preact/hooks';
import { useSigned } from '../../../api/signed';
import type { FormatPreview, Webhook } from '../../../api/types';
import { prettyOf } from '../../../parts/json';
import { plainOf } from '../../../parts/plain';
import { Result } from '../../../parts/result';
import { isPull } from '../../../parts/webhook-kind';
import { TEXT } from '../../../text/en';
import { namedIn, type Sample, SampleSelect, useChosen, useSamples } from './samples';
import { Setting, useDraft } from './setting';

const TEXTS = TEXT.settings.format;
const FORMATS = Object.keys(TEXTS.names) as (keyof typeof TEXTS.names)[];
const OF_CHATS: readonly string[] = ['slack', 'discord', 'teams'];

/** How events are written, with a preview. */
export function FormatSetting({ webhook }: { webhook: Webhook }) {
  const [format, setFormat, reset] = useDraft(webhook.format);
  const group = useId();
  return (
    <Setting
      title={TEXTS.title}
      says={TEXTS.says}
      webhook={webhook}
      patch={format === webhook.format ? {} : { format }}
      fields={[]}
      onReset={reset}
      after={<Preview format={format} samples={useSamples(webhook)} />}
    >
      {() => (
        <fieldset class="choices">
          <legend class="unseen">{TEXTS.label}</legend>
          {FORMATS.filter((each) => !isPull(webhook) || !OF_CHATS.includes(each)).map((each) => (
            <label key={each} class="row option">
              <input type="radio" name={group} checked={each === format} onChange={() => setFormat(each)} />
              <span>
                {TEXTS.names[each][0]} <span class="muted small">{TEXTS.names[each][1]}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
    </Setting>
  );
}

function Preview({ format, samples }: { format: string; samples: readonly Sample[] }) {
  const [sample, choose] = useChosen(samples);
  if (!sample) return null;
  return (
    <div class="preview">
      <div class="actions">
        <h3>{TEXTS.preview}</h3>
        <SampleSelect label={TEXTS.event} samples={samples} chosen={sample} onChange={choose} />
      </div>
      <PreviewOf format={format} sample={sample} />
    </div>
  );
}

function PreviewOf({ format, sample }: { format: string; sample: Sample }) {
  const { api } = useSigned();
  const body = { format, ...namedIn(sample) };
  const preview = useQuery({
    queryKey: ['format-preview', body],
    queryFn: () => api.send<FormatPreview>('POST', 'format-previews', body),
    placeholderData: (before) => before,
    staleTime: Infinity,
  });
  return (
    <Result of={preview} what={TEXTS.preview} lines={6}>
      {({ contentType, body: text }) => (
        <pre
          tabIndex={0}
          aria-label={TEXTS.preview}
        >{`content-type: ${plainOf(contentType)}\n\n${plainOf(prettyOf(text))}`}</pre>
      )}
    </Result>
  );
}
