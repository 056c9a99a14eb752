import { useMutation } from '@tanstack/preact-query';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { CreatedWebhook, DeliveryDetail } from '../../api/types';
import { ConsumerLines } from '../../parts/consumer-lines';
import { Problem } from '../../parts/problem';
import { SecretDialog } from '../../parts/secret-dialog';
import { TestOutcome } from '../../parts/test-outcome';
import { isPull } from '../../parts/webhook-kind';
import { TEXT } from '../../text/en';

/** The secret with the outcome of the test, or with the requests of a consumer, until one has copied the secret. */
export function CreatedWebhookDialog({ webhook, isTested }: { webhook: CreatedWebhook; isTested: boolean }) {
  const { api } = useSigned();
  const [, go] = useLocation();
  const test = useMutation({
    mutationFn: () => api.send<DeliveryDetail>('POST', encoded`webhooks/${webhook.id}/test`, {}),
  });
  useEffect(() => {
    if (isTested) test.mutate();
  }, []);
  return (
    <SecretDialog
      title={TEXT.newWebhook.created}
      secret={webhook.secret}
      standardSecret={webhook.standardSecret}
      onDone={() => go(encoded`/webhooks/${webhook.id}`)}
    >
      {isPull(webhook) && <ConsumerLines id={webhook.id} />}
      {test.isPending && <p role="status">{TEXT.settings.secret.testing}</p>}
      {test.isSuccess && <TestOutcome test={test.data} isLinked={false} />}
      {test.isError && <Problem error={test.error} />}
    </SecretDialog>
  );
}
