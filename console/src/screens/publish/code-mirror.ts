import { indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment } from '@codemirror/state';
import { highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { EditorView, minimalSetup } from 'codemirror';
import { plainOf } from '../../parts/plain';
import { editorTheme } from './editor-theme';

/** A fault to show at its line. */
export interface Mark {
  at: number;
  message: string;
}

export interface JsonEditor {
  replace: (text: string) => void;
  mark: (marks: readonly Mark[]) => void;
  /** Sets label, description and validity for screen readers. */
  describe: (label: string, description: string, isInvalid: boolean) => void;
  focusAt: (at: number) => void;
  destroy: () => void;
}

const DESCRIPTION = 'description';
const UNSEEN = /[\p{Cf}\p{Zl}\p{Zp}]/gu;

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--json-name)' },
  { tag: tags.string, color: 'var(--json-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--json-number)' },
]);

/** Shows invisible characters as the rest of the console does. */
const visible = highlightSpecialChars({
  addSpecialChars: UNSEEN,
  render(code, description) {
    const shown = document.createElement('span');
    shown.className = 'cm-specialChar';
    shown.title = description ?? '';
    shown.textContent = plainOf(String.fromCodePoint(code));
    return shown;
  },
});

/** Creates an editor in a shadow root: elsewhere, the content security policy blocks its styles. */
export function editorIn(host: HTMLElement, text: string, onInput: (text: string) => void): JsonEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  // References by id do not leave a shadow root.
  const said = document.createElement('p');
  said.id = DESCRIPTION;
  said.hidden = true;
  const attributes = new Compartment();
  const view = new EditorView({
    parent: root,
    root,
    doc: text,
    extensions: [
      ...[minimalSetup, lineNumbers(), lintGutter(), bracketMatching(), json(), visible],
      ...[syntaxHighlighting(colors), editorTheme, keymap.of([indentWithTab]), EditorView.lineWrapping],
      attributes.of([]),
      EditorView.updateListener.of(({ docChanged, state }) => docChanged && onInput(state.doc.toString())),
    ],
  });
  root.append(said);
  return {
    replace: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    mark(marks) {
      const end = view.state.doc.length;
      const shown = marks.map(({ at, message }) => ({ at: Math.min(at, end), message }));
      const diagnostics = shown.map(({ at, message }) => {
        return { from: at, to: view.state.doc.lineAt(at).to, severity: 'error' as const, message: plainOf(message) };
      });
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    describe(label, description, isInvalid) {
      said.textContent = description;
      const named = { 'aria-label': label, 'aria-describedby': DESCRIPTION, 'aria-invalid': String(isInvalid) };
      view.dispatch({ effects: attributes.reconfigure(EditorView.contentAttributes.of(named)) });
    },
    focusAt(at) {
      view.focus();
      view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) }, scrollIntoView: true });
    },
    destroy() {
      view.destroy();
      said.remove();
    },
  };
}
