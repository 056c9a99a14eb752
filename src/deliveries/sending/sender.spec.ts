import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { Attempt } from '../rows/attempt';
import { startDeliver } from './sender.service';

describe('The span of a request', () => {
  const exporter = new InMemorySpanExporter();
  const attempt = { id: 'd', eventId: 'e', webhookId: 'w', traceparent: null } as Attempt;
  beforeAll(() => {
    trace.setGlobalTracerProvider(new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  });
  afterAll(() => trace.disable());

  it.each([
    ['https://example.com/path?query', 'example.com', 443],
    ['http://example.com./', 'example.com.', 80],
    ['https://example.com:8443/', 'example.com', 8443],
    ['http://[::1]:4000/', '::1', 4000],
  ])('has of %s the host and the port', (url, host, port) => {
    exporter.reset();
    startDeliver(attempt, { url }).end();
    expect(exporter.getFinishedSpans().map(({ attributes }) => attributes)).toEqual([
      {
        'webhooks.event.id': 'e',
        'webhooks.webhook.id': 'w',
        'webhooks.delivery.id': 'd',
        'http.request.method': 'POST',
        'server.address': host,
        'server.port': port,
      },
    ]);
  });
});
