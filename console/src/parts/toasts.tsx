import { X } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { TEXT } from '../text/en';
import { Icon } from './icon';
import { Shared, useShared } from './shared';

interface Toast {
  id: number;
  text: string;
  undo?: () => void;
}

const SHOWN_MS = 10_000;
const MOST = 3;
const toasts = new Shared<readonly Toast[]>([]);
let lastId = 0;

/** Shows a message for ten seconds, on every screen. `undo` reverts the action. */
export function toast(text: string, undo?: () => void): void {
  toasts.set([...toasts.value, { id: ++lastId, text, undo }].slice(-MOST));
}

const close = (id: number): void => toasts.set(toasts.value.filter((each) => each.id !== id));

/** The messages of `toast`. They stay while the pointer or the focus is on one. */
export function Toasts() {
  const shown = useShared(toasts);
  const [isHeld, setHeld] = useState(false);
  return (
    <div
      class="toasts"
      role="status"
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocusCapture={() => setHeld(true)}
      onBlurCapture={() => setHeld(false)}
    >
      {shown.map((each) => (
        <Message key={each.id} toast={each} isHeld={isHeld} />
      ))}
    </div>
  );
}

function Message({ toast: { id, text, undo }, isHeld }: { toast: Toast; isHeld: boolean }) {
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => close(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, isHeld]);
  return (
    <p>
      <span>{text}</span>
      {undo && (
        <button
          type="button"
          class="button small"
          onClick={() => {
            undo();
            close(id);
          }}
        >
          {TEXT.undo}
        </button>
      )}
      <button type="button" class="button quiet small" aria-label={TEXT.close} onClick={() => close(id)}>
        <Icon of={X} />
      </button>
    </p>
  );
}
