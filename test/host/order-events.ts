import type { AddedEventType } from 'webhook-notification/catalogue';

declare module 'webhook-notification' {
  interface EventPayloads {
    'order.paid': { orderId: string };
  }
}

export const ORDER_PAID: AddedEventType = {
  name: 'order.paid',
  description: 'An order was paid.',
  schema: { type: 'object', required: ['orderId'], properties: { orderId: { type: 'string' } } },
  example: { orderId: '2026-0042' },
};
