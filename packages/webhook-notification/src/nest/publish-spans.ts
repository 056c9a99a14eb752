import type * as OpenTelemetry from '@opentelemetry/api';
import { EventRefusedError } from './event-refused.error';
import { optionalPackage } from './optional-package';

// Of its enums, because the package may be missing.
const PRODUCER = 3;
const ERROR = 2;

/** Null: the application has none. */
let installed: typeof OpenTelemetry | null | undefined;

function openTelemetry(): typeof OpenTelemetry | null {
  if (installed !== undefined) return installed;
  try {
    installed = optionalPackage<typeof OpenTelemetry>('@opentelemetry/api');
  } catch {
    installed = null;
  }
  return installed;
}

/** The spans of events that are written together: children of the active span, if the application records traces. */
export class PublishSpans {
  private readonly api = openTelemetry();
  private readonly spans: readonly OpenTelemetry.Span[];

  constructor(count: number) {
    const tracer = this.api?.trace.getTracer('webhook-notification');
    this.spans = tracer ? Array.from({ length: count }, () => tracer.startSpan('publish', { kind: PRODUCER })) : [];
  }

  /** Returns the W3C Trace Context of an event; undefined without a trace. */
  traceparentOf(place: number): string | undefined {
    const spanContext = this.spans[place]?.spanContext();
    if (!spanContext || !this.api?.isSpanContextValid(spanContext)) return undefined;
    const { traceId, spanId, traceFlags } = spanContext;
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  end(ids: readonly (string | null)[]): void {
    for (const [place, span] of this.spans.entries()) {
      span.setAttribute('webhooks.event.id', ids[place] ?? '').end();
    }
  }

  fail(error: unknown): void {
    const code = error instanceof EventRefusedError ? error.code : 'internal_error';
    for (const span of this.spans) span.setAttribute('error.type', code).setStatus({ code: ERROR }).end();
  }
}
