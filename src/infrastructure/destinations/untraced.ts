import { context, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api';

/** As `suppressTracing` of `@opentelemetry/core` sets it. The key is the same for all of its versions. */
const UNTRACED = ROOT_CONTEXT.setValue(createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING'), true);

/** Makes an outgoing request that no instrumentation records, with its url, or adds headers to. */
export function untraced<T>(request: () => T): T {
  return context.with(UNTRACED, request);
}
