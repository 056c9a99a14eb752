import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateOrders1760000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table items (name text primary key, in_stock integer not null)');
    await runner.query(`insert into items (name, in_stock) values ('tea', 1000), ('first edition', 0)`);
    await runner.query(
      `create table orders (
        id uuid primary key default gen_random_uuid(),
        customer text not null,
        item text not null references items,
        paid_at timestamptz
      )`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table orders, items');
  }
}
