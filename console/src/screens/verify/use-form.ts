import { useRef, useState } from 'preact/hooks';
import { useAbout } from '../../api/queries';
import type { ReceivedRequest } from '../../api/signature';
import { withOwnNames } from '../../parts/header-prefix';
import { plainOf } from '../../parts/plain';
import { TEXT } from '../../text/en';
import { headerLines, parseHeaders } from './saved-request';
import { type Body, useReceived } from './use-received';
import { useVerify } from './use-verify';

const { verify } = TEXT;
const PASTED = ['insertFromPaste', 'insertFromDrop'];
const SIGNATURES = ['x-service-signature', 'webhook-signature'];

type OfArea = { currentTarget: HTMLTextAreaElement };
export type Errors = Partial<Record<'secret' | 'headers' | 'body', string>>;
export type VerifyFields = ReturnType<typeof useVerifyForm>;

/** The fields of the page and what they do. `sent`: the request as the service sent it. */
export function useVerifyForm(sent: ReceivedRequest | null) {
  const prefixes = useAbout()?.headerPrefixes ?? [];
  const [secret, setSecret] = useState('');
  const [computed, setComputed] = useState('');
  const [errors, setErrors] = useState<Errors>({});
  const [said, setSaid] = useState<string | null>(null);
  const first = { headers: headerLines(sent?.headers ?? {}), body: sent?.body ?? new Uint8Array() };
  const received = useReceived(first);
  const { verified, isBusy, run, reset } = useVerify(
    sent && { ...sent, headers: withOwnNames(sent.headers, prefixes) },
  );
  const form = useRef<HTMLFormElement>(null);

  /** Removes what was said about other values. */
  const changed = (next: string | null = null) => {
    reset();
    setErrors({});
    setSaid(next);
  };
  const type = (text: string, isBody: boolean) => {
    if (isBody) received.setText(text);
    else received.setHeaders(text);
    changed();
  };
  const split = (text: string): boolean => {
    const isWhole = received.split(text);
    if (isWhole) changed(verify.readRequest);
    return isWhole;
  };
  const takeFile = async (file: File | undefined) => {
    if (!file) return;
    const taken = await received.takeFile(file);
    changed(taken === 'request' ? verify.readRequest : taken === 'body' ? verify.readBody : null);
    if (taken === 'too_large') setErrors({ body: verify.tooLarge });
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const { headers, faulty } = parseHeaders(received.headers);
    const found = errorsOf(secret, withOwnNames(headers, prefixes), faulty, received.body);
    setErrors(found);
    const [field] = Object.keys(found);
    if (field) form.current?.querySelector<HTMLElement>(`#${field}`)?.focus();
    else void run({ headers: withOwnNames(headers, prefixes), body: received.body.bytes }, secret, computed.trim());
  };
  return {
    ...{ form, sent, secret, computed, errors, said, verified, isBusy, submit, takeFile },
    ...{ headers: received.headers, body: received.body, editAsText: received.editAsText },
    setSecret: (next: string) => {
      setSecret(next);
      changed();
    },
    setComputed: (next: string) => {
      setComputed(next);
      changed();
    },
    /** A whole request is split when it is pasted, and otherwise when the field is left. */
    textEvents: (isBody: boolean) => ({
      onInput: ({ currentTarget: { value }, inputType }: InputEvent & OfArea) => {
        if (!PASTED.includes(inputType) || !split(value)) type(value, isBody);
      },
      onChange: ({ currentTarget: { value } }: Event & OfArea) => void split(value),
    }),
    reset: () => {
      received.set(first);
      changed();
    },
  };
}

/** Returns the errors in the order of the fields. */
function errorsOf(secret: string, headers: Record<string, string>, faulty: string | null, body: Body): Errors {
  const isUnsigned = !SIGNATURES.some((name) => headers[name] !== undefined);
  return {
    ...(secret === '' && { secret: verify.errors.secret }),
    ...(isUnsigned && { headers: verify.errors.headers }),
    ...(faulty !== null && { headers: verify.errors.faulty(plainOf(faulty.slice(0, 80))) }),
    ...(body.bytes.length === 0 && { body: verify.errors.body }),
  };
}
