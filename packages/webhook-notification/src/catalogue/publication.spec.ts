import { publicationMessageFor } from './publication';

const NAMES = ['follower.gained', 'follower.lost', 'job.started'];
const MANY = Array.from({ length: 500 }, (_, i) => `${'a'.repeat(120)}.b${i}`);

describe('The message about an unknown event', () => {
  it('says how to declare an event type, and lists those that exist', () => {
    expect(publicationMessageFor.unknownEvent('order.paid', NAMES)).toBe(
      'There is no event named "order.paid": declare it with POST /api/event-types or the setting EXTRA_EVENT_TYPES, or use follower.gained, follower.lost or job.started.',
    );
    expect(publicationMessageFor.unknownEvents(['order.paid', 'order.*'], NAMES)).toBe(
      'events has names that match no event type: order.paid, order.*. Declare one with POST /api/event-types or the setting EXTRA_EVENT_TYPES, or use follower.gained, follower.lost, job.started, a prefix such as follower.* or *.',
    );
  });

  it.each([publicationMessageFor.unknownEvent('x', MANY), publicationMessageFor.unknownEvents(['x'], MANY)])(
    'lists 20 of 500 event types',
    (message) => {
      expect(message.match(/a\.b\d+/g)).toHaveLength(20);
      expect(message).toContain('480 others that GET /api/event-types lists');
      expect(message.length).toBeLessThan(3000);
    },
  );
});
