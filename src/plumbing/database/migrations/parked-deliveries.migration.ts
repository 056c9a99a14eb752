import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deliveries that wait in their rows for a slot; the index leads from one webhook that has such rows to the next. */
export class ParkedDeliveries1763720000000 implements MigrationInterface {
  name = 'ParkedDeliveries1763720000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_service.deliveries add column parked boolean not null default false;
      create index deliveries_parked on webhook_service.deliveries (user_id, webhook_id, id)
        where status = 'pending' and parked;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_service.deliveries drop column parked');
  }
}
