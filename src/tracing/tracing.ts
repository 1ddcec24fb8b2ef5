/**
 * tracing owns spans: what a request did, told to a collector by OpenTelemetry's own SDK, which is loaded only when the
 * environment names a collector. It knows nothing of HTTP and of engines beyond the figures that a request ends with.
 */
import type { Context, Span, SpanStatusCode, Tracer } from '@opentelemetry/api';
import type { Logger } from '../lib/base/logger.ts';
import { requestFacts, stageFacts, type TracedRequest } from './span-facts.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The span of one request, from its arrival on. */
export interface RequestSpan {
  /** What a service that is asked on behalf of the request continues (W3C Trace Context). */
  readonly traceparent: string;
  end(request: TracedRequest): void;
}

export interface Tracing {
  /** Continues the trace that the headers name, if they name one. */
  begin(headers: Headers, startedMs: number): RequestSpan;
  /** Sends what is left. */
  close(): Promise<void>;
}

export interface TracingOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly instanceId: string;
  readonly log: Logger;
}

const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/core',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-base',
  '@opentelemetry/exporter-trace-otlp-http',
] as const;

/** Null unless the environment names a collector, and while the SDK is not installed, which is told once. */
export async function openTracing(options: TracingOptions): Promise<Tracing | null> {
  const { env, log } = options;
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
  if (endpoint.trim() === '' || env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return null;
  try {
    return await start(options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const install = `npm install ${PACKAGES.join(' ')}`;
    log.warn({ install }, 'Traces are asked for, but the OpenTelemetry SDK is not installed beside Hearth.');
    return null;
  }
}

async function start({ env, version, instanceId, log }: TracingOptions): Promise<Tracing> {
  const [api, { W3CTraceContextPropagator }, { resourceFromAttributes }, sdk, { OTLPTraceExporter }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/core'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]);
  // The exporter reads its address, headers and time-outs from the environment itself.
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': env['OTEL_SERVICE_NAME'] ?? 'hearth',
      'service.version': version,
      'service.instance.id': instanceId,
    }),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('hearth', version);
  const propagator = new W3CTraceContextPropagator();
  const getter = {
    keys: (headers: Headers) => Object.keys(headers),
    get: (headers: Headers, name: string) => headers[name],
  };
  log.info({}, 'Traces are sent to the collector that the environment names.');
  return {
    begin: (headers, startedMs) => {
      const parent = propagator.extract(api.ROOT_CONTEXT, headers, getter);
      const span = tracer.startSpan('request', { kind: api.SpanKind.SERVER, startTime: startedMs }, parent);
      const context = api.trace.setSpan(parent, span);
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        end: (request) =>
          endSpan(request, { span, tracer, context, startedMs, errorStatus: api.SpanStatusCode.ERROR }),
      };
    },
    close: () => provider.shutdown(),
  };
}

interface OpenSpan {
  readonly span: Span;
  readonly tracer: Tracer;
  readonly context: Context;
  readonly startedMs: number;
  readonly errorStatus: SpanStatusCode;
}

/** The stages follow one another from the arrival of the request; what is left between them is the way of the bytes. */
function endSpan(request: TracedRequest, { span, tracer, context, startedMs, errorStatus }: OpenSpan): void {
  const { name, attributes, error } = requestFacts(request);
  span.updateName(name);
  span.setAttributes(attributes);
  if (error !== null) span.setStatus({ code: errorStatus, message: error });
  let atMs = startedMs;
  for (const { name: stage, ms, attributes: facts } of stageFacts(request)) {
    const child = tracer.startSpan(stage, { startTime: atMs, attributes: facts }, context);
    atMs += ms;
    child.end(atMs);
  }
  span.end(startedMs + request.total_ms);
}
