import type { ComponentChildren } from 'preact';
import { TEXT } from '../text/en';
import { CopyButton } from './copy';
import { Dialog } from './dialog';
import { plainOf } from './plain';
import { useLeaveWarning } from './use-leave-warning';

/** A secret that the service shows only once. The dialog stays until one says that it is copied. */
export function SecretDialog({
  title,
  secret,
  standardSecret,
  onDone,
  children,
}: {
  title: string;
  secret: string;
  /** In the form of Standard Webhooks libraries. */
  standardSecret: string;
  onDone: () => void;
  /** Shown below the secret. */
  children?: ComponentChildren;
}) {
  useLeaveWarning(true);
  return (
    <Dialog title={title}>
      <p>{TEXT.settings.secret.once}</p>
      <Secret name={TEXT.settings.secret.secret} value={secret} />
      {standardSecret !== secret && <Secret name={TEXT.settings.secret.standard} value={standardSecret} />}
      {children}
      <p class="actions">
        <button type="button" class="button main" onClick={onDone}>
          {TEXT.settings.secret.copied}
        </button>
      </p>
    </Dialog>
  );
}

const Secret = ({ name, value }: { name: string; value: string }) => (
  <div class="secret">
    <span class="small muted">{name}</span>
    <code tabIndex={0}>{plainOf(value)}</code>
    <CopyButton text={value} />
  </div>
);
