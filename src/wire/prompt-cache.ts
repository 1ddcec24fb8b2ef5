import { type Static, Type } from 'typebox';
import { orNull } from './schema.ts';

export const CacheDifference = Type.Object({
  token: Type.Integer({ description: 'The first token that differs, from 0.' }),
  shared: Type.String({ description: 'The text right before, the same in both; 80 characters at most.' }),
  before: Type.String({ description: 'How the earlier prompt goes on.' }),
  now: Type.String({ description: 'How this prompt goes on.' }),
});

export const CacheOrigins = Type.Object({
  slot: Type.Integer({ description: 'Their state was in a slot.' }),
  ram: Type.Integer({ description: 'In the memory of the machine.' }),
  disk: Type.Integer({ description: 'On the disk.' }),
});

/** Visible only to the key that made the request. */
export const CacheReport = Type.Object(
  {
    object: Type.Literal('svc.cache_report'),
    request_id: Type.String(),
    model: Type.String(),
    created: Type.Integer({ description: 'Unix seconds.' }),
    prompt_tokens: Type.Integer(),
    cached_tokens: Type.Integer(),
    evaluated_tokens: Type.Integer(),
    from: CacheOrigins,
    restore_ms: Type.Number(),
    num_ctx: Type.Integer(),
    reason: Type.String({ description: 'One of those in docs/prompt-cache.md.' }),
    explanation: Type.String(),
    advice: orNull(Type.String({ description: 'What would have kept it.' })),
    difference: orNull(CacheDifference),
  },
  { $id: 'CacheReport' },
);
export type CacheReport = Static<typeof CacheReport>;

export const CachePin = Type.Object(
  {
    object: Type.Literal('svc.cache_pin'),
    id: Type.String(),
    model: Type.String(),
    tokens: Type.Integer({ description: 'Of the system prompt and the tools.' }),
    bytes: Type.Integer({
      description: 'Of their state, when they were pinned; 0: it is kept once it is evaluated again.',
    }),
    created: Type.Integer({ description: 'Unix seconds.' }),
  },
  { $id: 'CachePin' },
);
export type CachePin = Static<typeof CachePin>;

export const CachePinList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(CachePin) },
  { $id: 'CachePinList' },
);
export type CachePinList = Static<typeof CachePinList>;

export const PinRequest = Type.Object(
  { model: Type.String({ minLength: 1, maxLength: 512 }) },
  { $id: 'PinRequest' },
);
export type PinRequest = Static<typeof PinRequest>;

export const UnpinRequest = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 64 }) },
  { $id: 'UnpinRequest' },
);
export type UnpinRequest = Static<typeof UnpinRequest>;
