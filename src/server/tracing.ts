/**
 * Spans of requests, in OpenTelemetry's conventions for HTTP and generative AI. The SDK is loaded only if the
 * environment names a collector.
 */
import type { Context, Span, SpanStatusCode, Tracer } from '@opentelemetry/api';
import type { Logger } from '../lib/base/logger.ts';

interface TracedRequest {
  readonly request_id: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly error?: string;
  readonly model?: string;
  readonly client_name?: string;
  readonly total_ms: number;
  readonly queue_ms?: number;
  readonly load_ms?: number;
  readonly prompt_ms?: number;
  readonly grammar_ms?: number;
  readonly restore_ms?: number;
  readonly prefill_ms?: number;
  readonly decode_ms?: number;
  readonly check_ms?: number;
  readonly prompt_tokens?: number;
  readonly cached_tokens?: number;
  readonly completion_tokens?: number;
  readonly drafted_tokens?: number;
  readonly accepted_tokens?: number;
  readonly finish_reason?: string;
}

type Attributes = Record<string, string | number | string[]>;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface RequestSpan {
  readonly traceparent: string;
  end(request: TracedRequest): void;
}

export interface Tracing {
  begin(headers: Headers, startedMs: number): RequestSpan;
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

/** Null unless the environment names a collector; a missing SDK is logged once. */
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
  // The exporter reads its address, headers and timeouts from the environment.
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

/** Stages follow each other from the arrival; gaps between them are transfer time. */
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

const OPERATIONS: readonly (readonly [route: RegExp, operation: string])[] = [
  [/^\/v1\/(chat\/completions|messages|responses)$/, 'chat'],
  [/^\/v1\/completions$/, 'text_completion'],
  [/^\/v1\/embeddings$/, 'embeddings'],
  [/^\/v1\/rerank$/, 'rerank'],
];

function requestFacts(request: TracedRequest): {
  readonly name: string;
  readonly attributes: Attributes;
  readonly error: string | null;
} {
  const { model, error } = request;
  const operation = OPERATIONS.find(([route]) => route.test(request.route))?.[1];
  const failed = error !== undefined && error !== 'cancelled' ? error : null;
  return {
    name:
      operation === undefined ? `${request.method} ${request.route}` : `${operation} ${model ?? ''}`.trim(),
    attributes: given({
      'http.request.method': request.method,
      'http.route': request.route,
      'http.response.status_code': request.status,
      'error.type': error,
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': operation === undefined ? undefined : 'hearth',
      'gen_ai.request.model': model,
      'gen_ai.response.model': model,
      'gen_ai.usage.input_tokens': request.prompt_tokens,
      'gen_ai.usage.cache_read.input_tokens': request.cached_tokens,
      'gen_ai.usage.output_tokens': request.completion_tokens,
      'gen_ai.response.finish_reasons':
        request.finish_reason === undefined ? undefined : [request.finish_reason],
      'hearth.request.id': request.request_id,
      'hearth.client.name': request.client_name,
    }),
    error: failed,
  };
}

function stageFacts(request: TracedRequest) {
  const stage = (name: string, ms: number | undefined, attributes: Attributes = {}) =>
    ms === undefined || ms === 0 ? [] : [{ name, ms, attributes }];
  return [
    ...stage('queue', request.queue_ms),
    ...stage('load', request.load_ms, given({ 'gen_ai.request.model': request.model })),
    ...stage('prompt', request.prompt_ms, given({ 'gen_ai.usage.input_tokens': request.prompt_tokens })),
    ...stage('grammar', request.grammar_ms),
    ...stage('cache restore', request.restore_ms, given({ 'hearth.cached_tokens': request.cached_tokens })),
    ...stage('prefill', request.prefill_ms, given({ 'gen_ai.usage.input_tokens': request.prompt_tokens })),
    ...stage(
      'decode',
      request.decode_ms,
      given({
        'gen_ai.usage.output_tokens': request.completion_tokens,
        'hearth.drafted_tokens': request.drafted_tokens,
        'hearth.accepted_tokens': request.accepted_tokens,
      }),
    ),
    ...stage('check', request.check_ms),
  ];
}

function given(attributes: Readonly<Record<string, string | number | string[] | undefined>>): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
