import { type Static, Type } from 'typebox';

const Ms = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));
const Count = Type.Optional(Type.Integer({ minimum: 0 }));
const Text = Type.Optional(Type.String());

/** In place of a number or an id. */
export const LATEST = 'last';

export const RequestView = Type.Object(
  {
    number: Type.Integer({ minimum: 1, description: 'Counts requests since the service started.' }),
    request_id: Type.String(),
    trace_id: Type.Optional(Type.String({ description: 'Of its W3C trace (`traceparent`).' })),
    started_ms: Type.Integer({ description: 'Unix milliseconds.' }),
    method: Type.String(),
    route: Type.String(),
    dialect: Text,
    stream: Type.Boolean(),
    status: Type.Integer(),
    error: Type.Optional(
      Type.String({
        description:
          'The code of its failure; cancelled: the client left; client_stalled: it stopped reading.',
      }),
    ),
    model: Text,
    upstream: Type.Optional(
      Type.String({
        description: 'The upstream that was asked last; it answered, unless there is an error.',
      }),
    ),
    instead_of: Type.Optional(Type.String({ description: 'The upstream that failed before.' })),
    because: Type.Optional(Type.String({ description: 'How that upstream failed.' })),
    client: Type.String({ description: 'A hash of address, key and program.' }),
    client_name: Type.Optional(Type.String({ description: 'What the client calls itself.' })),
    key: Type.Optional(Type.String({ description: 'The name of its API key.' })),
    total_ms: Type.Integer({ minimum: 0 }),
    queue_ms: Ms('Waiting for its turn; of a request that ended there, until then.'),
    load_ms: Ms('Waiting for the load of its model; of a request that ended there, until then.'),
    prompt_ms: Ms('Rendering its prompt and reading it as tokens; a part of a millisecond counts as one.'),
    grammar_ms: Ms('Compiling the grammar of its answer, rounded up as well.'),
    restore_ms: Ms('Bringing kept state of the prompt back from memory or disk.'),
    first_ms: Ms(
      'From its arrival to its first token as sampled; of an answer that did not come to its end, to the first piece that was sent.',
    ),
    prefill_ms: Ms('Evaluating its prompt.'),
    decode_ms: Ms('From the first token to the last.'),
    check_ms: Ms('Holding what it wrote against the schemas of its tools or its answer, rounded up as well.'),
    prompt_tokens: Count,
    cached_tokens: Count,
    ram_tokens: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Cached ones that came back from memory.' }),
    ),
    disk_tokens: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Cached ones that came back from the disk.' }),
    ),
    cache_miss: Type.Optional(
      Type.String({
        description: 'Why prompt tokens that could have been cached were evaluated (docs/prompt-cache.md).',
      }),
    ),
    completion_tokens: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Tokens of the answer; of one that did not come to its end, the pieces that were sent, some of which hold several.',
      }),
    ),
    drafted_tokens: Count,
    accepted_tokens: Count,
    finish_reason: Text,
    has_text: Type.Boolean({ description: 'Whether its text was kept (SVC_RECORD=text).' }),
  },
  { $id: 'RequestView' },
);
export type RequestView = Static<typeof RequestView>;

export const Recording = Type.Object({
  kept: Type.Integer({ description: 'How many requests are remembered at most; 0: none.' }),
  text_until_ms: Type.Optional(
    Type.Integer({ description: 'Text is being kept, and forgotten at this moment. Unix milliseconds.' }),
  ),
});
export type Recording = Static<typeof Recording>;

export const RequestQuery = Type.Object({
  after: Type.Optional(
    Type.String({ pattern: '^\\d{1,15}$', description: 'Only requests with a larger number.' }),
  ),
});
export type RequestQuery = Static<typeof RequestQuery>;

export const RequestList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(RequestView), recording: Recording },
  { $id: 'RequestList' },
);
export type RequestList = Static<typeof RequestList>;

const Message = Type.Object({
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.String(),
  truncated: Type.Boolean({ description: 'The body was longer than what is kept.' }),
});

/** Includes the request and the answer if they were recorded. */
export const RequestDetail = Type.Object(
  {
    ...RequestView.properties,
    text: Type.Optional(
      Type.Object({ path: Type.String(), request: Message, response: Message }, { $id: 'RequestText' }),
    ),
  },
  { $id: 'RequestDetail' },
);
export type RequestDetail = Static<typeof RequestDetail>;
export type RequestText = NonNullable<RequestDetail['text']>;
