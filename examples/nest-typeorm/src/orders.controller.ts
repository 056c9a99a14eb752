import { Body, Controller, HttpCode, Param, ParseUUIDPipe, Post } from '@nestjs/common';
import { OrdersService } from './orders.service.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  place(@Body('customer') customer: string, @Body('item') item: string): Promise<{ id: string }> {
    return this.orders.place(customer, item);
  }

  @Post(':id/payment')
  @HttpCode(204)
  pay(@Param('id', ParseUUIDPipe) id: string): Promise<void> {
    return this.orders.pay(id);
  }
}
