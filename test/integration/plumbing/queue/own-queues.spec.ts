import { parseQueueName } from '../../../../src/plumbing/config/queue-name';
import { ALL_SEND_QUEUES } from '../../../../src/deliveries/send-queue-names';
import { FAN_OUT_QUEUE } from '../../../../src/events/fan-out.queue';

it.each([...ALL_SEND_QUEUES, FAN_OUT_QUEUE])('The own queue %s cannot be monitored, under no prefix', (name) => {
  expect([
    parseQueueName(name),
    parseQueueName(`bull:${name}`),
    parseQueueName(`webhook_service_queue:${name}`),
  ]).toEqual([null, null, null]);
});
