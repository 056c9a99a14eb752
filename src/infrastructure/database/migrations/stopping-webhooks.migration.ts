import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets a webhook stop at once, however many deliveries are pending: their rows are canceled in the background. */
export class StoppingWebhooks1764001200000 implements MigrationInterface {
  name = 'StoppingWebhooks1764001200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(STOPPING_WEBHOOKS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table webhook_service.stopping_webhooks');
  }
}

/** Lets an account be disconnected at once, however many followers it has: these are deleted in the background. */
export class DeletedAccounts1764001600000 implements MigrationInterface {
  name = 'DeletedAccounts1764001600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.accounts add column deleted_at timestamptz(3)');
    await queryRunner.query(`
      create index accounts_deleted on webhook_service.accounts (deleted_at) where deleted_at is not null`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('delete from webhook_service.accounts where deleted_at is not null');
    await queryRunner.query('alter table webhook_service.accounts drop column deleted_at');
  }
}

/** Lets a token be revoked at once, however many were made with it: these are refused at once, and deleted in the background. */
export class RevokedTokens1764002300000 implements MigrationInterface {
  name = 'RevokedTokens1764002300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.access_tokens add column revoked_at timestamptz(3)');
    await queryRunner.query(`
      create index access_tokens_revoked on webhook_service.access_tokens (revoked_at) where revoked_at is not null`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('delete from webhook_service.access_tokens where revoked_at is not null');
    await queryRunner.query('alter table webhook_service.access_tokens drop column revoked_at');
  }
}

/** Lets users take turns in the background. */
export class UserTurns1764002000000 implements MigrationInterface {
  name = 'UserTurns1764002000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create index recoveries_turns on webhook_service.recoveries (user_id, webhook_id) where status = 'running';
      create index stopping_webhooks_turns on webhook_service.stopping_webhooks (user_id, webhook_id);
      drop index webhook_service.stopping_webhooks_user`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      drop index webhook_service.recoveries_turns, webhook_service.stopping_webhooks_turns;
      create index stopping_webhooks_user on webhook_service.stopping_webhooks (user_id)`);
  }
}

const STOPPING_WEBHOOKS = `
  -- Webhooks that were disabled or deleted while too many deliveries were pending for one transaction. A row is deleted when all
  -- of them are canceled. The webhook itself may be gone.
  create table webhook_service.stopping_webhooks (
    webhook_id uuid primary key,
    user_id    text not null,
    reason     text not null check (reason in ('webhook_disabled', 'webhook_deleted')),
    stopped_at timestamptz(3) not null default now(),
    -- Event of the last canceled row. Pages do not read the dead index entries of earlier pages again.
    cursor     uuid not null default '00000000-0000-0000-0000-000000000000'
  );
  create index stopping_webhooks_user on webhook_service.stopping_webhooks (user_id);
`;
