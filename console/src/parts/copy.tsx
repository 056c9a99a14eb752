import { useState } from 'preact/hooks';
import { TEXT } from '../text/en';

/** Copies exactly this text. Without a secure context there is no clipboard, and the button says so. */
export function CopyButton({ text, label = TEXT.copy }: { text: string; label?: string }) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(TEXT.copied);
    } catch {
      setSaid(TEXT.cannotCopy);
    }
    setTimeout(() => setSaid(null), 4000);
  };
  return (
    <span class="copy">
      <button type="button" class="button quiet" onClick={() => void copy()}>
        {label}
      </button>
      <span role="status" class="small muted">
        {said}
      </span>
    </span>
  );
}
