import { useMutation } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import type { ApiPath } from '../api/address';
import { useSigned } from '../api/signed';
import { TEXT } from '../text/en';
import { ApiCall } from './api-call';
import { Dialog } from './dialog';
import { Problem } from './problem';

/** Asks before something is deleted, and says what follows. */
export function ConfirmDeletion({
  title,
  path,
  action,
  onDeleted,
  onClose,
  children,
}: {
  title: string;
  /** Of the API. */
  path: ApiPath;
  /** Label of the button that deletes. */
  action: string;
  onDeleted: () => unknown;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const { api } = useSigned();
  const deletion = useMutation({ mutationFn: () => api.send('DELETE', path), onSuccess: onDeleted });
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {deletion.isError && <Problem error={deletion.error} />}
      <p class="actions">
        <button type="button" class="button" onClick={onClose}>
          {TEXT.cancel}
        </button>
        <button type="button" class="button danger" disabled={deletion.isPending} onClick={() => deletion.mutate()}>
          {action}
        </button>
      </p>
      <ApiCall method="DELETE" path={path} />
    </Dialog>
  );
}
