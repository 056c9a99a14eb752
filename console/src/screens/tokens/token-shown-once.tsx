import type { CreatedToken } from '../../api/types';
import { CopyButton } from '../../parts/copy';
import { Dialog } from '../../parts/dialog';
import { plainOf } from '../../parts/plain';
import { TEXT } from '../../text/en';

const { tokens } = TEXT;

/** A new token, which is shown once: neither Esc nor a click beside it closes this dialog. */
export const TokenShownOnce = ({ created, onClose }: { created: CreatedToken; onClose: () => void }) => (
  <Dialog title={tokens.once}>
    <p>{tokens.onceSays(plainOf(created.name))}</p>
    <pre tabIndex={0} aria-label={tokens.newToken}>
      {created.token}
    </pre>
    <p class="actions once">
      <CopyButton text={created.token} />
      <button type="button" class="button main" onClick={onClose}>
        {tokens.copied}
      </button>
    </p>
  </Dialog>
);
