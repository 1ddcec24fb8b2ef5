/** What spans say of a request, in the words of OpenTelemetry's conventions for HTTP and generative AI. Pure. */

/** The figures that a request ends with; names as in the recorder. */
export interface TracedRequest {
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

/** Operations of the convention, by what a route does. */
const OPERATIONS: readonly (readonly [route: RegExp, operation: string])[] = [
  [/^\/v1\/(chat\/completions|messages|responses)$/, 'chat'],
  [/^\/v1\/completions$/, 'text_completion'],
  [/^\/v1\/embeddings$/, 'embeddings'],
  [/^\/v1\/rerank$/, 'rerank'],
];

export function requestFacts(request: TracedRequest): {
  readonly name: string;
  readonly attributes: Attributes;
  /** The code of its failure; a client that left is none. */
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

/** In the order in which they follow one another; a stage that took no time at all was not there. */
export function stageFacts(request: TracedRequest) {
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
