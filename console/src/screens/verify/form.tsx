import { canVerify, type ReceivedRequest } from '../../api/signature';
import { plainOf } from '../../parts/plain';
import { TEXT } from '../../text/en';
import { Answer } from './answer';
import { FirstDifference } from './difference';
import { Field, SecretInput } from './fields';
import { useVerifyForm, type VerifyFields } from './use-form';

const { verify } = TEXT;

/** The page takes files; dropped text belongs to the field below it. */
const allowFiles = (event: DragEvent) => {
  if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
};

/** Secret, headers and body, next to the result. `sent`: the request as the service sent it. */
export function VerifyForm({ sent }: { sent: ReceivedRequest | null }) {
  const fields = useVerifyForm(sent);
  const { form, submit, takeFile, verified, body } = fields;
  const drop = (event: DragEvent) => {
    allowFiles(event);
    void takeFile(event.dataTransfer?.files[0]);
  };
  return (
    <div class="two verify" onDragOver={allowFiles} onDrop={drop}>
      <form ref={form} class="stack" noValidate autocomplete="off" onSubmit={submit}>
        <Request fields={fields} />
        <File fields={fields} />
        <Computed fields={fields} />
        <Buttons fields={fields} />
      </form>
      <section class="card answer" aria-labelledby="answer">
        <h2 id="answer">{verify.answer}</h2>
        <div role="status">{verified ? <Answer verified={verified} /> : <p class="muted">{verify.waits}</p>}</div>
        {sent && <FirstDifference sent={sent.body} received={body.bytes} />}
      </section>
    </div>
  );
}

const AREA = { spellcheck: false, autocomplete: 'off' };

const Request = ({
  fields: { secret, setSecret, headers, body, errors, textEvents, editAsText },
}: {
  fields: VerifyFields;
}) => (
  <>
    <Field id="secret" label={verify.secret} hint={verify.secretSays} error={errors.secret}>
      {(tied) => <SecretInput {...tied} value={secret} onValue={setSecret} />}
    </Field>
    <Field id="headers" label={verify.headers} hint={verify.headersSay} error={errors.headers}>
      {(tied) => <textarea {...tied} {...AREA} {...textEvents(false)} rows={7} value={headers} />}
    </Field>
    <Field id="body" label={verify.body} hint={body.file ? undefined : verify.bodySays} error={errors.body}>
      {(tied) => (
        <textarea
          {...tied}
          {...AREA}
          {...textEvents(true)}
          rows={8}
          readOnly={body.file !== null}
          value={body.file ? plainOf(body.text) : body.text}
        />
      )}
    </Field>
    {body.file && (
      <p class="actions">
        <span class="muted small">{verify.fromFile(plainOf(body.file), TEXT.delivery.bytes(body.bytes.length))}</span>
        <button type="button" class="button small" onClick={editAsText}>
          {verify.edit}
        </button>
      </p>
    )}
  </>
);

const File = ({ fields: { takeFile, said } }: { fields: VerifyFields }) => (
  <div>
    <Field id="file" label={verify.file} hint={verify.fileSays}>
      {(tied) => (
        <input
          {...tied}
          type="file"
          onChange={({ currentTarget }) => {
            void takeFile(currentTarget.files?.[0]);
            // The same file can be chosen again after a change.
            currentTarget.value = '';
          }}
        />
      )}
    </Field>
    <p role="status" class="small">
      {said}
    </p>
  </div>
);

const Computed = ({ fields: { computed, setComputed } }: { fields: VerifyFields }) => (
  <Field id="computed" label={verify.computed}>
    {(tied) => (
      <input
        {...tied}
        autocomplete="off"
        spellcheck={false}
        value={computed}
        onInput={({ currentTarget }) => setComputed(currentTarget.value)}
      />
    )}
  </Field>
);

const Buttons = ({ fields: { sent, isBusy, reset } }: { fields: VerifyFields }) => (
  <div class="actions">
    <button class="button main" disabled={!canVerify() || isBusy}>
      {isBusy ? verify.busy : verify.submit}
    </button>
    {sent && (
      <button type="button" class="button" onClick={reset}>
        {verify.reset}
      </button>
    )}
    {!canVerify() && <span class="muted small">{verify.insecureShort}</span>}
  </div>
);
