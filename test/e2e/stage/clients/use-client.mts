// Uses the client that openapi-generator (typescript-fetch) has made of openapi.json, and prints what it got as JSON.
import {
  AccessApi,
  Configuration,
  DeliveriesApi,
  EventsApi,
  ListWebhookDeliveriesStateEnum,
  type ModelError,
  ResponseError,
  WebhooksApi,
} from './generated/index.js';

const { URL: basePath = '', RECEIVER: url = '', TOKEN = '', READER = '' } = process.env;
const UNKNOWN = '00000000-0000-7000-8000-000000000000';

function apis(accessToken: string) {
  const configuration = new Configuration({ basePath, accessToken });
  return {
    access: new AccessApi(configuration),
    deliveries: new DeliveriesApi(configuration),
    events: new EventsApi(configuration),
    webhooks: new WebhooksApi(configuration),
  };
}
const mine = apis(TOKEN);
const reader = apis(READER);
const event = { event: 'order.paid', data: { cents: 4900 } };

async function errorOf(call: Promise<unknown>) {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    const { code, details = [] } = (await error.response.json()) as ModelError;
    return { status: error.response.status, code, details: details.map(({ field }) => field) };
  }
  throw new Error('The request was not rejected.');
}

async function pages(): Promise<number[]> {
  const lengths: number[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await mine.webhooks.listWebhooks({ limit: 1, cursor });
    lengths.push(page.data.length);
    cursor = page.nextCursor;
  }
  return lengths;
}

async function settled(id: string, count: number) {
  for (let i = 0; i < 600; i++) {
    const state = [ListWebhookDeliveriesStateEnum.Delivered];
    const { data } = await mine.deliveries.listWebhookDeliveries({ id, state });
    if (data.length >= count) return data;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('The deliveries are not settled.');
}

async function untilLimited() {
  for (let i = 0; i < 1000; i++) {
    const error = await errorOf(reader.access.getMe()).catch(() => null);
    if (error) return error;
  }
  throw new Error('There is no limit.');
}

const create = (newWebhook: { url: string; events: string[]; active?: boolean }) =>
  mine.webhooks.createWebhook({ newWebhook: { ...newWebhook, events: new Set(newWebhook.events) as never } });
const { data: created } = await create({ url, events: ['order.paid'] });
await create({ url, events: ['job.started'], active: false });
const { data: published } = await mine.events.publishEvent({ newEvent: event });
const { data: batch } = await mine.events.publishEvents({ newEvents: { events: [event, event] } });
const rows = await settled(created.id, 3);
const { data: rotated } = await mine.webhooks.rotateSecret({ id: created.id, secretRotation: {} });
const since = new Date(Date.now() - 3_600_000);
const { data: recovery } = await mine.deliveries.recoverWebhook({ id: created.id, recoveryRequest: { since } });

process.stdout.write(
  JSON.stringify({
    pages: await pages(),
    events: [published, ...batch].map((one) => one.event),
    attempts: rows.map(({ attempt }) => attempt),
    rotated: rotated.secret !== created.secret,
    recovered: recovery.id !== undefined,
    400: await errorOf(create({ url: 'nonsense', events: ['no.such'] })),
    401: await errorOf(apis('wrong').access.getMe()),
    403: await errorOf(reader.webhooks.createWebhook({ newWebhook: { url, events: new Set(['*']) as never } })),
    404: await errorOf(mine.webhooks.getWebhook({ id: UNKNOWN })),
    409: await errorOf(create({ url, events: ['*'] })),
    tested: (await mine.webhooks.testWebhook({ id: created.id, testDeliveryRequest: {} })).data.responseStatus,
    429: await untilLimited(),
  }),
);
