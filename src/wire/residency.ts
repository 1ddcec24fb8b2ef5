import { type Static, Type } from 'typebox';
import { FIRST_TOKEN_MS, UPSTREAM_FACTS, WHY } from './operation/upstream.ts';

/** Loaded models, for `hearth ps`; a route in addition to those of the interface. */
export const ResidencyList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object({
        id: Type.String(),
        kind: Type.String(),
        state: Type.String({ description: 'loading, ready or draining.' }),
        pid: Type.Union([Type.Integer(), Type.Null()]),
        memory_bytes: Type.Integer({ description: 'Measured when loaded, else planned.' }),
        memory: Type.Array(
          Type.Object({
            device: Type.String({
              description: 'CPU is the memory of the machine; every GPU has its own name.',
            }),
            planned_bytes: Type.Integer({ description: 'What the load was planned with.' }),
            measured_bytes: Type.Union([Type.Integer(), Type.Null()], {
              description:
                'What it takes since it is loaded, with the buffers that no step has touched yet; null where nothing measures it.',
            }),
          }),
        ),
        num_ctx: Type.Union([Type.Integer(), Type.Null()]),
        slots: Type.Union([Type.Integer(), Type.Null()]),
        threads: Type.Union([Type.Integer(), Type.Null()]),
        tokens_per_second: Type.Union([Type.Number(), Type.Null()], {
          description: 'At which the latest answer was decoded; null before the first of some length.',
        }),
        running: Type.Integer(),
        queued: Type.Integer(),
        expires_at: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
    upstreams: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String(),
          ...UPSTREAM_FACTS,
          why: Type.Union([Type.String(), Type.Null()], { description: WHY }),
          first_token_ms: Type.Union([Type.Number(), Type.Null()], { description: FIRST_TOKEN_MS }),
        }),
        { description: 'Those that had a request since the server started.' },
      ),
    ),
  },
  { $id: 'ResidencyList' },
);
export type ResidencyList = Static<typeof ResidencyList>;

export const UnloadRequest = Type.Object(
  { model: Type.String({ minLength: 1, maxLength: 512 }) },
  { $id: 'UnloadRequest' },
);
export type UnloadRequest = Static<typeof UnloadRequest>;

export const UnloadResponse = Type.Object(
  { model: Type.String(), unloaded: Type.Boolean() },
  { $id: 'UnloadResponse' },
);
