import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import { EventsService, fromDrizzle } from 'webhook-notification/nest';
import { Database } from './database.js';
import { OrderPaid } from './order-events.js';
import { items, orders } from './tables.js';

@Injectable()
export class OrdersService {
  constructor(
    private readonly database: Database,
    private readonly events: EventsService,
  ) {}

  async place(customer: string, item: string): Promise<{ id: string }> {
    const [order] = await this.database.orm.insert(orders).values({ customer, item }).returning({ id: orders.id });
    return order!;
  }

  /**
   * Pays the order, publishes its event to the webhooks of the customer, and takes the item from the stock; or does
   * none of it.
   * @throws NotFoundException when there is no such order, or it is paid
   * @throws ConflictException when the item is sold out
   */
  async pay(id: string): Promise<void> {
    await this.database.orm.transaction(async (tx) => {
      const unpaid = and(eq(orders.id, id), isNull(orders.paidAt));
      const [order] = await tx.update(orders).set({ paidAt: new Date() }).where(unpaid).returning();
      if (!order) throw new NotFoundException('There is no such order to pay.');
      const { customer, item } = order;
      await this.events.publish(OrderPaid, { orderId: id, item }, { userId: customer, tx: fromDrizzle(tx) });
      const left = and(eq(items.name, item), gt(items.inStock, 0));
      const taken = await tx
        .update(items)
        .set({ inStock: sql`${items.inStock} - 1` })
        .where(left)
        .returning();
      if (taken.length === 0) throw new ConflictException(`The item ${item} is sold out.`);
    });
  }
}
