import { useQuery } from '@tanstack/preact-query';
import { useId } from 'preact/hooks';
import { useSigned } from '../../../api/signed';
import type { FormatPreview, Webhook } from '../../../api/types';
import { faultAt } from '../../../parts/faults';
import { Field } from '../../../parts/field';
import { prettyOf } from '../../../parts/json';
import { plainOf } from '../../../parts/plain';
import { Result } from '../../../parts/result';
import { Segmented } from '../../../parts/segmented';
import { isPull } from '../../../parts/webhook-kind';
import { TEXT } from '../../../text/en';
import { namedIn, type Sample, SampleSelect, useChosen, useSamples } from './samples';
import { Setting, useDraft } from './setting';

const TEXTS = TEXT.settings.format;
const FORMATS = Object.keys(TEXTS.names) as (keyof typeof TEXTS.names)[];
const OF_CHATS: readonly string[] = ['slack', 'discord', 'teams'];

/** How events are written and which part of them, with a preview. */
export function FormatSetting({ webhook }: { webhook: Webhook }) {
  const [format, setFormat, resetFormat] = useDraft(webhook.format);
  const [text, setText, resetText] = useDraft(webhook.fields && webhook.fields.join('\n'));
  const fields = OF_CHATS.includes(format) || text === null ? null : pathsIn(text);
  const group = useId();
  return (
    <Setting
      title={TEXTS.title}
      says={TEXTS.says}
      webhook={webhook}
      patch={{
        ...(format !== webhook.format && { format }),
        ...(JSON.stringify(fields) !== JSON.stringify(webhook.fields) && { fields }),
      }}
      fields={['fields']}
      onReset={() => {
        resetFormat();
        resetText();
      }}
      after={<Preview format={format} fields={fields} samples={useSamples(webhook)} />}
    >
      {(error) => (
        <>
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
          {!OF_CHATS.includes(format) && (
            <>
              <Segmented
                name={TEXTS.data}
                options={[
                  ['all', TEXTS.all],
                  ['some', TEXTS.some],
                ]}
                value={text === null ? 'all' : 'some'}
                onChange={(next) => setText(next === 'all' ? null : (webhook.fields ?? []).join('\n'))}
              />
              {text !== null && (
                <Field label={TEXTS.fields} hint={TEXTS.fieldsHint} error={faultAt(error, 'fields')}>
                  {(tie) => (
                    <textarea
                      {...tie}
                      rows={4}
                      spellcheck={false}
                      value={text}
                      onInput={({ currentTarget }) => setText(currentTarget.value)}
                    />
                  )}
                </Field>
              )}
            </>
          )}
        </>
      )}
    </Setting>
  );
}

const pathsIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

type Fields = readonly string[] | null;

function Preview({ format, fields, samples }: { format: string; fields: Fields; samples: readonly Sample[] }) {
  const [sample, choose] = useChosen(samples);
  if (!sample) return null;
  return (
    <div class="preview">
      <div class="actions">
        <h3>{TEXTS.preview}</h3>
        <SampleSelect label={TEXTS.event} samples={samples} chosen={sample} onChange={choose} />
      </div>
      <PreviewOf format={format} fields={fields} sample={sample} />
    </div>
  );
}

function PreviewOf({ format, fields, sample }: { format: string; fields: Fields; sample: Sample }) {
  const { api } = useSigned();
  const body = { format, fields, ...namedIn(sample) };
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
