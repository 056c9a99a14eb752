import type { EventDefinition } from '../catalogue/define-event';
import type { TestingEventsService } from './testing-events.service';

interface MatcherContext {
  equals(a: unknown, b: unknown): boolean;
  isNot?: boolean;
}

/** For `expect.extend(webhookMatchers)` of jest and vitest: `await expect(events).toHavePublished(OrderPaid, data)`. */
export const webhookMatchers = {
  /** Passes when such an event was published; with data, when its data equals it. */
  async toHavePublished(
    this: MatcherContext,
    events: TestingEventsService,
    event: EventDefinition | string,
    data?: unknown,
  ): Promise<{ pass: boolean; message: () => string }> {
    const name = typeof event === 'string' ? event : event.name;
    const all = await events.published();
    const pass = all.some((each) => each.event === name && (data === undefined || this.equals(each.data, data)));
    const wanted = data === undefined ? name : `${name} with ${JSON.stringify(data)}`;
    const found = all.map((each) => `${each.event} with ${JSON.stringify(each.data)}`).join('\n  ');
    return {
      pass,
      message: () => `Expected ${pass ? 'no' : 'an'} event ${wanted}. Published were:\n  ${found || 'none'}`,
    };
  },
};
