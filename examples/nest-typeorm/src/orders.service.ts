import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import { DataSource, IsNull, MoreThan } from 'typeorm';
import { EventsService } from 'webhook-notification/nest';
import { Item } from './item.entity.js';
import { OrderPaid } from './order-events.js';
import { Order } from './order.entity.js';

@Injectable()
export class OrdersService {
  constructor(
    private readonly source: DataSource,
    private readonly events: EventsService,
  ) {}

  async place(customer: string, item: string): Promise<{ id: string }> {
    const { id } = await this.source.getRepository(Order).save({ customer, item });
    return { id };
  }

  /**
   * Pays the order, publishes its event to the webhooks of the customer, and takes the item from the stock; or does
   * none of it.
   * @throws NotFoundException when there is no such order, or it is paid
   * @throws ConflictException when the item is sold out
   */
  async pay(id: string): Promise<void> {
    await this.source.transaction(async (tx) => {
      const unpaid = { id, paidAt: IsNull() };
      const order = await tx.findOne(Order, { where: unpaid, lock: { mode: 'pessimistic_write' } });
      if (!order) throw new NotFoundException('There is no such order to pay.');
      const { customer, item } = order;
      await tx.update(Order, { id }, { paidAt: new Date() });
      await this.events.publish(OrderPaid, { orderId: id, item }, { userId: customer, tx });
      const taken = await tx.update(Item, { name: item, inStock: MoreThan(0) }, { inStock: () => 'in_stock - 1' });
      if (taken.affected !== 1) throw new ConflictException(`The item ${item} is sold out.`);
    });
  }
}
