import { EditorView } from 'codemirror';

/** The look of the other fields. Custom properties reach into the shadow root, so that it follows light and dark. */
export const editorTheme = EditorView.theme({
  '&': {
    height: '100%',
    overflow: 'hidden',
    border: '1px solid var(--input)',
    borderRadius: 'var(--radius)',
    background: 'var(--raised)',
    color: 'var(--ink)',
    fontSize: 'var(--text-tiny)',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { padding: '0.625rem 0', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { border: '0', background: 'var(--sunken)', color: 'var(--muted)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-ground)',
  },
  '&.cm-focused .cm-matchingBracket': { outline: '1px solid var(--input)', background: 'none' },
  '.cm-specialChar': { borderRadius: '3px', background: 'var(--bad-ground)', color: 'var(--bad)' },
  // No text-decoration: browsers copy it into an inline style when the text is typed over, and the policy blocks that.
  '.cm-lintRange-error': { borderBottom: '2px dotted var(--bad-mark)', backgroundImage: 'none' },
  '.cm-lintPoint-error::after': { borderBottomColor: 'var(--bad-mark)' },
  '.cm-gutter-lint': { width: '1.25em' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '0' },
  '.cm-lint-marker-error': {
    width: '100%',
    height: 'auto',
    color: 'var(--bad)',
    fontWeight: '700',
    textAlign: 'center',
    content: 'normal',
  },
  '.cm-lint-marker-error::before': { content: '"✕"' },
  '.cm-tooltip': {
    maxWidth: 'min(30rem, 80vw)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    background: 'var(--raised)',
    boxShadow: 'var(--shadow-over)',
    color: 'var(--ink)',
  },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
});
