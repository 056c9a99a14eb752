import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A native dialog over the page. Focus goes back to where it was when it closes. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  /** Left out: it cannot be closed without an answer. */
  onClose?: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  const cancel = (event: Event) => {
    event.preventDefault();
    onClose?.();
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      // Chromium closes a dialog at the second Esc, whatever its listener says.
      closedby={onClose ? undefined : 'none'}
      onCancel={cancel}
    >
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}
