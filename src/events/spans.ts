import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { version } from '../infrastructure/config/version';
import { ApiError } from '../infrastructure/errors/api-error';
import { isDatabaseUnavailable, isLocked } from '../infrastructure/errors/database-error';

const KINDS = { publish: SpanKind.PRODUCER, 'fan-out': SpanKind.CONSUMER, deliver: SpanKind.CLIENT };

/** Its spans do nothing until the operator loads an SDK of OpenTelemetry. */
const tracer = trace.getTracer('webhook-notification-service', version);

/** Starts the span of a publication: a child of the active span, or else of the caller's `traceparent`. */
export function startPublish(traceparent: string | null): Span {
  const active = context.active();
  const caller = trace.getSpanContext(active);
  return start('publish', caller && isSpanContextValid(caller) ? active : contextOf(traceparent));
}

/** Starts the span of a later step of an event, as a child of its publication. Without a `traceparent` it begins a trace. */
export function startStep(name: 'fan-out' | 'deliver', traceparent: string | null, attributes: Attributes): Span {
  return start(name, contextOf(traceparent), attributes);
}

/** Ends a span: with the code of its error, unless that is null. Messages are not recorded: they may contain data. */
export function endSpan(span: Span, errorCode: string | null = null): void {
  if (errorCode !== null) span.setAttribute('error.type', errorCode).setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

export function failSpan(span: Span, error: unknown): void {
  if (error instanceof ApiError) endSpan(span, error.code);
  else if (isDatabaseUnavailable(error)) endSpan(span, 'unavailable');
  else endSpan(span, isLocked(error) ? 'busy' : 'internal_error');
}

/** Returns a function that ends the spans of these steps with an error, and throws it. */
export const failing =
  (steps: readonly { span: Span }[]) =>
  (error: unknown): never => {
    for (const { span } of steps) failSpan(span, error);
    throw error;
  };

/** Returns the `traceparent` of a span; null when it belongs to no trace. */
export function traceparentOf(span: Span): string | null {
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return null;
  const { traceId, spanId, traceFlags } = spanContext;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function start(name: keyof typeof KINDS, parent: Context, attributes?: Attributes): Span {
  return tracer.startSpan(name, { kind: KINDS[name], attributes }, parent);
}

/** @param traceparent as returned by `parseTraceparent` */
function contextOf(traceparent: string | null): Context {
  if (traceparent === null) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    traceFlags: parseInt(traceparent.slice(53), 16),
    isRemote: true,
  });
}
