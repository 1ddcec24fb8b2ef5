/**
 * The shape of a record: an in-toto Statement whose predicate says how one answer was computed. This schema is the
 * source; docs/schemas/evidence-frozen-v1.json is generated from it.
 */
import { type Static, type TNumber, type TOptional, type TSchema, Type } from 'typebox';
import type { SamplingRow } from '../../contract/sampling.ts';
import {
  type DeviationOption,
  RECORDED_ROWS,
  type RecordedOption,
  type WireName,
} from '../../contract/sampling-shapes.ts';

export const EVIDENCE_PAYLOAD_TYPE = 'application/vnd.in-toto+json';
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PREDICATE_TYPE = 'urn:svc:evidence:frozen-v1';

export const COMPLETIONS_ROUTE = '/v1/completions';

export const sha256 = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description });
export const text = (description: string, maxLength = 512) => Type.String({ maxLength, description });
export const count = (description: string) => Type.Integer({ minimum: 0, description });
export const time = (description: string) =>
  Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$', description });
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const EXACT = { additionalProperties: false };

export const Issuer = Type.Object(
  {
    instance_id: Type.String({ pattern: '^svc-[a-z2-7]{26}$' }),
    boot_id: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    keyid: sha256('SHA-256 of the public key (SPKI, DER) that signed this record.'),
    seq: count('Number of the record in its boot, from 0; a gap shows a record that was held back.'),
    prev_evidence_sha256: orNull(sha256('SHA-256 of the payload of the record before it in this boot.')),
    issued_at: time('When it was signed, UTC, by the clock of the machine.'),
  },
  EXACT,
);

export const Request = Type.Object(
  {
    raw_body_sha256: sha256('The request body as it was received.'),
    canonical_sha256: sha256('The request body as canonical JSON (RFC 8785).'),
    mode: Type.Literal('frozen-v1'),
    route: Type.Optional(
      Type.Literal(COMPLETIONS_ROUTE, { description: 'Where it was sent. Absent: /v1/chat/completions.' }),
    ),
    nonce: Type.Optional(text('The nonce that the client sent.', 128)),
  },
  EXACT,
);

const Prompt = Type.Object(
  {
    template_sha256: orNull(sha256('Text of the chat template; null when the model has none.')),
    template_clock: time('The second that the template saw as the present.'),
    rendered_sha256: sha256('The rendered prompt, UTF-8.'),
    tokens_sha256: sha256('Ids of the prompt tokens as little-endian u32.'),
    n_tokens: count('Tokens of the prompt.'),
    add_bos: Type.Boolean({ description: 'Whether a beginning-of-sequence token was put first.' }),
  },
  EXACT,
);

export const Model = Type.Object(
  {
    id: text('Model id.'),
    blob_sha256: sha256('The model file.'),
    size: count('Bytes of the model file.'),
    shards: Type.Array(Type.Object({ sha256: sha256('A further file.'), size: count('Its bytes.') }, EXACT)),
    gguf_header_sha256: orNull(sha256('The file up to the first tensor.')),
  },
  EXACT,
);

export const Server = Type.Object(
  {
    version: text('Service version.', 64),
    server_source_sha256: sha256('As in GET /v1/identity.'),
    node_version: text('Node.js version.', 64),
    platform: text('Operating system and architecture.', 64),
    sealed: Type.Optional(
      Type.Object(
        {
          network: Type.Union([Type.Literal('seccomp'), Type.Literal('socket-guard')], {
            description:
              'What kept the service and its workers from opening connections, tried at their start.',
          }),
          worker_files: orNull(
            Type.Union([Type.Literal('landlock'), Type.Literal('none')], {
              description: 'What kept the worker from files other than installed models.',
            }),
          ),
        },
        { ...EXACT, description: 'Absent: the service was not started with --sealed.' },
      ),
    ),
  },
  EXACT,
);

export const Backend = Type.Object(
  {
    backend_sha256: sha256('As in GET /v1/identity.'),
    closure: Type.Array(Type.Object({ name: text('File name.', 255), sha256: sha256('Its bytes.') }, EXACT), {
      maxItems: 64,
      description: 'The native files that were mapped into the worker.',
    }),
    llama_commit: text('The llama.cpp release that the build metadata names.', 128),
    build_flags_sha256: orNull(sha256('The build metadata file of the prebuilt folder.')),
    cpu_features: text('What the native library reports to use of the CPU.', 4096),
    libc: text('The C library.', 128),
    binding: Type.Optional(
      Type.Object(
        {
          name: text('Its package.', 64),
          version: text('Its version.', 64),
          sha256: sha256('Its native file.'),
        },
        { ...EXACT, description: 'What calls the library. Absent: a record made before it was named.' },
      ),
    ),
  },
  EXACT,
);

const Exec = Type.Object(
  {
    n_ctx: count('Window, tokens.'),
    n_batch: count('Tokens of a prefill chunk.'),
    n_ubatch: count('Tokens evaluated at once.'),
    lane: Type.Optional(
      Type.Literal('exact', {
        description: 'In a slot of a model with exact=on, beside others. Absent: alone in a fresh context.',
      }),
    ),
    n_seq: Type.Integer({ minimum: 1, description: 'Sequences of the context; 1 where it was alone.' }),
    n_threads: count('Threads demanded, for prompt and decode alike.'),
    n_threads_observed: count('Threads that the context reported after the run.'),
    flash_attn: Type.Boolean(),
    type_k: text('Type of the K cache.', 16),
    type_v: text('Type of the V cache.', 16),
    n_gpu_layers: Type.Literal(0),
    use_mmap: Type.Boolean(),
    repack: Type.Boolean(),
    omp: Type.Boolean(),
    kv: Type.Union([Type.Literal('fresh'), Type.Literal('shared')]),
    prefix_reuse: Type.Boolean(),
    spec_decode: Type.Literal(false),
    ctx_shift: Type.Literal(false),
    worker_gen: count('Which start of the worker in this boot ran it.'),
  },
  EXACT,
);

type SamplingMembers = {
  [K in RecordedOption as WireName<K>]: K extends DeviationOption ? TOptional<TNumber> : TNumber;
};

const samplingMembers = Object.fromEntries(
  RECORDED_ROWS.map(([, row]) => [row.wire, samplingMember(row)]),
) as SamplingMembers;

/** Only requests must respect the ranges; a record states the applied value. */
function samplingMember({ schema, recorded, evidence, fallback }: SamplingRow): TSchema {
  const said = Reflect.get(schema, 'description') as string | undefined;
  const description = evidence === 'deviation' ? `${said ?? ''} Absent: ${fallback ?? 'none'}.`.trim() : said;
  const keywords = { ...recorded, ...(description === undefined ? {} : { description }) };
  const member = Type.IsInteger(schema) ? Type.Integer({ minimum: 0, ...keywords }) : Type.Number(keywords);
  return evidence === 'deviation' ? Type.Optional(member) : member;
}

const Sampling = Type.Object(
  {
    ...samplingMembers,
    chain: Type.Array(text('The name of a sampler.', 32), {
      maxItems: 16,
      description: 'Samplers in the order in which they see the logits.',
    }),
    num_predict: orNull(count('Most tokens that could be generated; null: until the window is full.')),
    stop_sha256: sha256('Canonical JSON of the list of stop strings.'),
    defaulted: Type.Array(Type.String({ maxLength: 32 }), {
      maxItems: 8,
      description: 'What the request left open and this mode decided.',
    }),
  },
  EXACT,
);

const Output = Type.Object(
  {
    finish_reason: Type.Union([Type.Literal('stop'), Type.Literal('length'), Type.Literal('tool_calls')]),
    n_tokens: count('Tokens sampled, the one that ended the turn included.'),
    tokens_sha256: sha256('Their ids as little-endian u32; equal to the subject output-tokens.'),
    trace_sha256: sha256('Chain over token and two largest logits of every step.'),
    min_margin: orNull(Type.Number({ description: 'Smallest gap between the two largest logits.' })),
  },
  EXACT,
);

export const Predicate = Type.Object(
  {
    issuer: Issuer,
    request: Request,
    prompt: Prompt,
    model: Model,
    server: Server,
    backend: Backend,
    exec: Exec,
    sampling: Sampling,
    output: Output,
  },
  EXACT,
);
export type Predicate = Static<typeof Predicate>;

const subject = <const Name extends string>(name: Name, description: string) =>
  Type.Object(
    { name: Type.Literal(name), digest: Type.Object({ sha256: sha256(description) }, EXACT) },
    EXACT,
  );

interface About<Result extends string> {
  readonly $id: string;
  readonly title: string;
  readonly response: string;
  readonly result: readonly [Result, string];
}

export const statementSchema = <const Name extends string, const Result extends string, P extends TSchema>(
  predicateType: Name,
  predicate: P,
  { $id, title, response, result }: About<Result>,
) =>
  Type.Object(
    {
      _type: Type.Literal(STATEMENT_TYPE),
      subject: Type.Tuple([subject('response', response), subject(...result)]),
      predicateType: Type.Literal(predicateType),
      predicate,
    },
    { ...EXACT, $id, title },
  );

export const Statement = statementSchema(PREDICATE_TYPE, Predicate, {
  $id: 'EvidenceFrozenV1',
  title: 'frozen-v1 evidence',
  response: 'Canonical JSON of {choices, model, usage} of the response.',
  result: ['output-tokens', 'Ids of the sampled tokens as little-endian u32.'],
});
export type Statement = Static<typeof Statement>;
