import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { type Statement, StatementsService, statement } from '../../infrastructure/database/statements.service';
import { HealthService, UnhealthyError } from '../../infrastructure/health/health.service';
import { type SealedValues, SecretsService } from './secrets.service';

const MAX_KNOWN = 100;
/** A slow PostgreSQL is unhealthy itself; the keys are then as well as they last were. */
const READ_WITHIN_MS = 1000;

const READ_CHECK: Statement = {
  name: 'secrets_check',
  text: 'select secrets_check as "check" from webhook_service.installation',
};

/** Only of webhooks that attempts are made for. */
const READ_SEALED = statement('unreadable_secrets')`
    select id, secret, case when previous_secret_expires_at > now() then previous_secret end as "previousSecret", headers
    from webhook_service.webhooks where id = any($1::uuid[]) and active`;

/**
 * Makes this process unready while its keys do not open the check value of the installation, or a secret that an attempt needed. It
 * is ready again when they do: after `webhooks rekey`, or when the webhook has a new secret, is disabled or deleted.
 */
@Injectable()
export class SecretsHealthService implements OnModuleInit {
  private readonly logger = new Logger(SecretsHealthService.name);
  /** Some of the webhooks whose attempts had to be put back. */
  private readonly unreadable = new Set<string>();
  private opensCheck = true;
  private isFailing = false;
  private reading: Promise<void> | null = null;

  constructor(
    private readonly statements: StatementsService,
    private readonly secrets: SecretsService,
    private readonly health: HealthService,
  ) {}

  onModuleInit(): void {
    this.health.register('secrets', () => this.assertReadable());
  }

  note(webhookId: string): void {
    if (this.unreadable.size < MAX_KNOWN) this.unreadable.add(webhookId);
    this.report(`a secret of webhook ${webhookId}`);
  }

  private async assertReadable(): Promise<void> {
    this.reading ??= this.read().finally(() => (this.reading = null));
    await Promise.race([this.reading.catch(() => undefined), pause(READ_WITHIN_MS, undefined, { ref: false })]);
    if (this.isFailing) throw new UnhealthyError('SECRETS_KEY does not decrypt every stored secret.');
  }

  private async read(): Promise<void> {
    const [row] = await this.statements.run<{ check: string | null }>(READ_CHECK, []);
    this.opensCheck = !row?.check || this.secrets.opensCheck(row.check);
    if (!this.opensCheck) this.report('the check value of the installation');
    const known = [...this.unreadable];
    const rows =
      known.length > 0 ? await this.statements.run<SealedValues & Record<string, unknown>>(READ_SEALED, [known]) : [];
    const stillUnreadable = new Set(rows.filter((each) => this.secrets.openAll(each) === null).map(({ id }) => id));
    for (const id of known) if (!stillUnreadable.has(id)) this.unreadable.delete(id);
    if (this.isFailing && this.opensCheck && this.unreadable.size === 0) {
      this.isFailing = false;
      this.logger.log('SECRETS_KEY decrypts every secret again.');
    }
  }

  private report(what: string): void {
    if (!this.isFailing)
      this.logger.error(
        `SECRETS_KEY does not decrypt ${what}. Deliveries that need a missing key wait, and are tried every 30 s. ` +
          `This process has the keys ${this.secrets.keyIds().join(', ')}.`,
      );
    this.isFailing = true;
  }
}
