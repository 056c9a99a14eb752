import { parseQueueName } from '../../../../src/infrastructure/config/queue-name';
import { sendQueueNames } from '../../../../src/deliveries/send.queue';
import { FAN_OUT_QUEUE } from '../../../../src/events/fan-out.queue';

it.each([...sendQueueNames('redis://a,redis://b'), FAN_OUT_QUEUE])(
  'The service queue %s cannot be monitored under any prefix',
  (name) => {
    expect([
      parseQueueName(name),
      parseQueueName(`bull:${name}`),
      parseQueueName(`webhook_service_queue:${name}`),
    ]).toEqual([null, null, null]);
  },
);
