import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import type { Haystack } from './canaries';

/** A span as OTLP/HTTP has it in JSON, with its attributes as an object. */
export interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  status: { code: number; message?: string };
}

type JsonSpan = Omit<ExportedSpan, 'attributes'> & { attributes: { key: string; value: Record<string, unknown> }[] };

interface Exported {
  resourceSpans?: { scopeSpans: { spans: JsonSpan[] }[] }[];
}

/** A collector of OpenTelemetry that keeps what it gets. */
export class OtlpSink {
  /** Everything that was exported, by the path of its signal: `/v1/traces`. */
  readonly exported: Haystack[] = [];
  readonly spans: ExportedSpan[] = [];
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      this.take(request.url ?? '', Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  /** The settings of processes that export to it soon. */
  settings(): Settings {
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    };
  }

  /** Waits for as many spans of this name about the event; the oldest first. */
  spansOf(name: string, { id }: { id: string }, count: number): Promise<ExportedSpan[]> {
    return waitFor(
      () => {
        const found = this.spans.filter((span) => span.name === name && span.attributes['webhooks.event.id'] === id);
        return found.length >= count && found;
      },
      { what: `${count} spans ${name} of event ${id}` },
    );
  }

  /** Waits for the span with this id. */
  span(spanId: string | undefined): Promise<ExportedSpan> {
    const what = `the span ${spanId}`;
    return waitFor(() => this.spans.find((span) => span.spanId === spanId) ?? false, { what });
  }

  private take(place: string, text: string): void {
    this.exported.push({ place, text });
    const { resourceSpans = [] } = JSON.parse(text) as Exported;
    const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    for (const { attributes, ...span } of spans) {
      const named = attributes.map(({ key, value }) => [key, Object.values(value)[0]]);
      this.spans.push({ ...span, attributes: Object.fromEntries(named) as Record<string, unknown> });
    }
  }
}

/** A collector for all tests of the describe block. */
export function useOtlpSink(): OtlpSink {
  const sink = new OtlpSink();
  beforeAll(() => sink.start());
  afterAll(() => sink.stop());
  return sink;
}
