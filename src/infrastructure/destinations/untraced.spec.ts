import { context, trace } from '@opentelemetry/api';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { untraced } from './http.client';

describe('An untraced request', () => {
  beforeAll(() => new NodeTracerProvider().register());
  afterAll(() => {
    trace.disable();
    context.disable();
  });

  it('has no spans, not even in what it starts', async () => {
    const isRecorded = () => trace.getTracer('an instrumentation').startSpan('POST').isRecording();
    const later = untraced(() => Promise.resolve().then(isRecorded));
    expect([isRecorded(), untraced(isRecorded), await later]).toEqual([true, false, false]);
  });
});
