import type { MutableRef } from 'preact/hooks';
import { useEffect, useImperativeHandle, useRef, useState } from 'preact/hooks';
import { TEXT } from '../../text/en';
import type { JsonEditor, Mark } from './code-mirror';

export interface FieldControl {
  /** Moves focus and cursor to this place of the text. */
  focusAt: (at: number) => void;
  /** Replaces the text. A new `value` alone does not change the editor, which may be a letter ahead of it. */
  replace: (text: string) => void;
}

const SETTLED_AFTER_MS = 500;

/** A field for JSON: an editor once that is loaded; until then, and if loading fails, a textarea. */
export function JsonField({
  value,
  fault,
  marks,
  control,
  onInput,
}: {
  value: string;
  /** The syntax error in words; null for valid JSON. */
  fault: string | null;
  marks: readonly Mark[];
  control: MutableRef<FieldControl | null>;
  onInput: (text: string) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const latest = useRef({ value, onInput });
  latest.current = { value, onInput };
  const editor = useEditor(host, plain, latest);
  const settled = useSettled(fault);
  const description = [TEXT.publish.leaveEditor, fault].filter(Boolean).join(' ');

  useEffect(() => editor?.mark(marks), [editor, marks]);
  useEffect(() => editor?.describe(TEXT.publish.data, description, fault !== null), [editor, description, fault]);
  useImperativeHandle(control, () => ({
    focusAt(at) {
      if (editor) return editor.focusAt(at);
      plain.current?.focus();
      plain.current?.setSelectionRange(at, at);
    },
    replace: (text) => (editor ? editor.replace(text) : onInput(text)),
  }));

  return (
    <div class="json-field">
      <span class="label" id="data-label" aria-hidden={editor !== null}>
        {TEXT.publish.data}
      </span>
      <div ref={host} class="editor" hidden={!editor} />
      {!editor && (
        <textarea
          ref={plain}
          class="editor"
          spellcheck={false}
          aria-labelledby="data-label"
          aria-describedby="data-fault"
          aria-invalid={fault !== null}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
      <p class="muted small">{editor && TEXT.publish.leaveEditor}</p>
      <p id="data-fault" role="status" class="fault">
        {fault && settled}
      </p>
    </div>
  );
}

/** Returns the editor once it is loaded; it takes over text, focus and cursor of the textarea. */
function useEditor(
  host: MutableRef<HTMLDivElement | null>,
  plain: MutableRef<HTMLTextAreaElement | null>,
  latest: MutableRef<{ value: string; onInput: (text: string) => void }>,
): JsonEditor | null {
  const [editor, setEditor] = useState<JsonEditor | null>(null);
  useEffect(() => {
    let isGone = false;
    let made: JsonEditor | undefined;
    const make = async () => {
      const { editorIn } = await import('./code-mirror');
      if (isGone || !host.current) return;
      const field = plain.current;
      const cursor = field && document.activeElement === field ? field.selectionStart : null;
      host.current.hidden = false;
      made = editorIn(host.current, latest.current.value, (text) => latest.current.onInput(text));
      if (cursor !== null) made.focusAt(cursor);
      setEditor(made);
    };
    // If loading fails, the textarea stays.
    make().catch(() => undefined);
    return () => {
      isGone = true;
      made?.destroy();
    };
  }, []);
  return editor;
}

/** Returns a value once it stays the same for a while, so that screen readers do not announce an error at each key. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
