import { integer, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';

export const items = pgTable('items', {
  name: text('name').primaryKey(),
  inStock: integer('in_stock').notNull(),
});

export const orders = pgTable('orders', {
  id: uuid('id').primaryKey().defaultRandom(),
  customer: text('customer').notNull(),
  item: text('item')
    .notNull()
    .references(() => items.name),
  paidAt: timestamp('paid_at', { withTimezone: true }),
});
