import { type Static, Type } from 'typebox';
import { HEADERS } from '../headers.ts';
import { CacheDifference } from '../prompt-cache.ts';
import { orNull } from '../schema.ts';

export const DryRun = Type.Object(
  {
    object: Type.Literal('svc.dry_run'),
    model: Type.String(),
    rendered_prompt: orNull(
      Type.String({ description: 'Null while the model is not loaded and loading it would evict another.' }),
    ),
    prompt_tokens: orNull(Type.Integer()),
    cached_tokens: orNull(Type.Integer({ description: 'Prompt tokens whose state would be reused.' })),
    slot: orNull(Type.Integer({ description: 'The sequence that would be used; null when all are busy.' })),
    num_ctx: orNull(Type.Integer()),
    fits: orNull(Type.Boolean({ description: 'Whether the prompt leaves room for an answer.' })),
    tool_format: orNull(Type.String({ description: '"envelope", or the format that the template shows.' })),
    parameters: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'What would be used, in the words of the engine.',
    }),
    rewritten: Type.Array(Type.String({ description: `As in ${HEADERS.rewritten}.` })),
    difference: orNull(CacheDifference),
    ignored_parameters: Type.Array(Type.String()),
    would_load: Type.Boolean(),
    would_evict: Type.Array(Type.String()),
    planned_bytes: Type.Number(),
  },
  { $id: 'DryRun' },
);
export type DryRun = Static<typeof DryRun>;
