// Comparing an event of 4 KiB with the filters of ten webhooks, five conditions each, parsing included; the limit is parsing
// alone. Both are calls in this process: neither stores nor requests.
import { compileFilter, matches } from '../../dist/src/webhooks/filter/compile-filter.js';
import { valuesOf } from '../../dist/src/webhooks/filter/filter-path.js';
import { alternate } from '../rounds.mjs';

const BYTES = 4096;
const WEBHOOKS = 10;
const EVENTS = 20_000;
const WARM_UP_EVENTS = 5000;

const body = bodyOf();
const filters = Array.from({ length: WEBHOOKS }, (_, i) =>
  compileFilter({
    'data.amountCents': { gte: 1000 + i },
    'data.status': ['paid', 'refunded'],
    'data.test': { exists: false },
    'data.customer.email': { suffix: '@example.com' },
    'data.lines.sku': i % 2 ? 'sku-5' : 'missing',
  }),
);

export async function filtering(bench) {
  const count = bench.scaled(EVENTS);
  await alternate(bench, {
    title: `${WEBHOOKS} webhooks with 5 conditions, an event of ${body.length} bytes`,
    unit: 'µs',
    limit: async () => cpuOf(count, () => (JSON.parse(body).data ? WEBHOOKS / 2 : 0)),
    measure: async () => cpuOf(count, () => matching(JSON.parse(body))),
  });
}

function matching({ event, data }) {
  const valuesAt = valuesOf({ event, userId: 'ada', data });
  return filters.filter((filter) => matches(filter, valuesAt)).length;
}

/** Returns the processor time of one call, which must return half the number of webhooks. */
function cpuOf(count, call) {
  for (let i = 0; i < WARM_UP_EVENTS; i++) call();
  const before = process.cpuUsage();
  let found = 0;
  for (let i = 0; i < count; i++) found += call();
  const { user, system } = process.cpuUsage(before);
  const problems = found === (count * WEBHOOKS) / 2 ? [] : [`${found} filters matched`];
  return { values: { value: (user + system) / count }, problems };
}

function bodyOf() {
  const lines = [];
  const told = () =>
    JSON.stringify({
      ...{ id: '0198c0de-0000-7000-8000-000000000000', event: 'order.paid', createdAt: '2026-01-15T09:30:00.000Z' },
      data: {
        ...{ amountCents: 5000, status: 'paid', tags: ['new', 'sale'], lines },
        customer: { email: 'ada@example.com', country: 'DE', tier: 'gold' },
      },
    });
  for (let i = 0; told().length < BYTES; i++)
    lines.push({ sku: `sku-${i}`, price: i * 100, quantity: 1 + (i % 3), tags: ['x', 'y'], name: 'Something to buy' });
  lines.pop();
  return told();
}
