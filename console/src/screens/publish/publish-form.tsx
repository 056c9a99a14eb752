import type { TargetedEvent, TargetedKeyboardEvent } from 'preact';
import type { MutableRef } from 'preact/hooks';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { CallError } from '../../api/call';
import { useSigned } from '../../api/signed';
import type { Fault, EventType } from '../../api/types';
import { ApiCall } from '../../parts/api-call';
import { faultAt } from '../../parts/faults';
import { Field, TextField } from '../../parts/field';
import { TEXT } from '../../text/en';
import { AudienceField } from './audience';
import type { Draft } from './draft';
import { faultText, marksOf } from './fault-texts';
import { Faults } from './faults';
import { type FieldControl, JsonField } from './json-field';
import { jsonFaultOf, type JsonPlaces, placeOf, placesOf } from './json-places';
import { Reach } from './reach';
import { TypeSchema } from './type-schema';
import { useDraft, usePublish } from './use-publish';

const NO_DETAILS: readonly Fault[] = [];

/** The data of an event as it is edited. */
export const textOf = (data: unknown): string => JSON.stringify(data ?? {}, null, 2);

/** The form of an event: type, data, audience, subject and idempotency key. */
export function PublishForm({ types, first }: { types: readonly EventType[]; first: Draft }) {
  const { may } = useSigned();
  const [entered, change] = useDraft(first);
  const [key, setKey] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const control = useRef<FieldControl>(null);
  const { event, text, subject, audience, userId } = entered;
  const fault = useMemo(() => jsonFaultOf(text), [text]);
  const places = useMemo(() => placesOf(text), [text]);
  const { publish, body } = usePublish(entered, key);
  const details = publish.error instanceof CallError ? publish.error.details : NO_DETAILS;
  const marks = useMemo(() => marksOf(text, fault, details), [text, fault, details]);
  useFocusOnFault(details, places, form, control);

  const example = textOf(types.find(({ name }) => name === event)?.example);
  const choose = (next: string) => {
    const nextExample = textOf(types.find(({ name }) => name === next)?.example);
    change({ event: next });
    // Edited data stays; an unchanged example gives way to that of the new type.
    if (text === example) control.current?.replace(nextExample);
  };
  const submit = (submitted: TargetedEvent<HTMLFormElement, Event>) => {
    submitted.preventDefault();
    if (fault) control.current?.focusAt(fault.at ?? 0);
    else if (!publish.isPending) publish.mutate();
  };
  const type = types.find(({ name }) => name === event);
  return (
    <div class="publish">
      <form
        ref={form}
        class="stack"
        onSubmit={submit}
        onKeyDownCapture={may('events:publish') ? onShortcut : undefined}
      >
        <Field label={TEXT.publish.event} error={faultAt(publish.error, 'event')}>
          {(tie) => (
            <select {...tie} name="event" value={event} onChange={({ currentTarget }) => choose(currentTarget.value)}>
              {types.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <JsonField
          value={text}
          fault={fault && faultText(text, fault)}
          marks={marks}
          control={control}
          onInput={(next) => change({ text: next })}
        />
        {publish.isError && (
          <Faults error={publish.error} text={text} places={places} onPlace={(at) => control.current?.focusAt(at)} />
        )}
        <AudienceField value={audience} onChange={(next) => change({ audience: next })} />
        {audience === 'user' && (
          <TextField
            name="userId"
            label={TEXT.publish.user}
            value={userId}
            required
            maxLength={255}
            error={faultAt(publish.error, 'userId')}
            onValue={(next) => change({ userId: next })}
          />
        )}
        <Reach event={event} audience={audience} />
        <TextField
          name="subject"
          label={TEXT.publish.subject}
          hint={TEXT.publish.subjectSays}
          value={subject}
          error={faultAt(publish.error, 'subject')}
          onValue={(next) => change({ subject: next })}
        />
        <TextField
          name="idempotencyKey"
          label={TEXT.publish.key}
          hint={TEXT.publish.keySays}
          value={key}
          maxLength={255}
          error={faultAt(publish.error, 'idempotencyKey')}
          onValue={setKey}
        />
        <ApiCall method="POST" path="events" body={body} />
        <Bar isBusy={publish.isPending || event === ''} onExample={() => control.current?.replace(example)} />
      </form>
      {type && <TypeSchema key={event} type={type} />}
    </div>
  );
}

/** The buttons, always in sight. */
function Bar({ isBusy, onExample }: { isBusy: boolean; onExample: () => void }) {
  const { may } = useSigned();
  const mayPublish = may('events:publish');
  return (
    <div class="publish-bar">
      <button class="button main" disabled={!mayPublish || isBusy}>
        {TEXT.publish.submit}
      </button>
      <button type="button" class="button" onClick={onExample}>
        {TEXT.publish.example}
      </button>
      <span class="muted small">{mayPublish ? TEXT.publish.shortcut : TEXT.lacks('events:publish')}</span>
    </div>
  );
}

/** Publishes at Ctrl+Enter and ⌘+Enter, before the editor inserts a line. */
function onShortcut(pressed: TargetedKeyboardEvent<HTMLFormElement>): void {
  if (pressed.key !== 'Enter' || !(pressed.ctrlKey || pressed.metaKey)) return;
  pressed.preventDefault();
  pressed.stopPropagation();
  pressed.currentTarget.requestSubmit();
}

/** Moves the focus to the first invalid field of a refused event. */
function useFocusOnFault(
  details: readonly Fault[],
  places: JsonPlaces,
  form: MutableRef<HTMLFormElement | null>,
  control: MutableRef<FieldControl | null>,
): void {
  useEffect(() => {
    const field = details[0]?.field;
    if (field === undefined) return;
    const at = placeOf(places, field);
    const input = form.current?.elements.namedItem(field);
    if (at !== null) control.current?.focusAt(at);
    else if (input instanceof HTMLElement) input.focus();
  }, [details]);
}
