import { defineEvent } from 'webhook-notification';

export const OrderPaid = defineEvent({
  name: 'order.paid',
  description: 'An order was paid.',
  schema: {
    type: 'object',
    required: ['orderId', 'item'],
    properties: { orderId: { type: 'string' }, item: { type: 'string' } },
  },
  example: { orderId: '4f7c2a0e-7d1b-4a53-9c6f-2b8e1d5a9f30', item: 'tea' },
});
