import { type Static, Type } from 'typebox';

const Count = Type.Integer({ minimum: 0 });
const counted = (description: string) => Type.Integer({ minimum: 0, description });

export const UPSTREAM_FACTS = {
  privacy: Type.String({ description: 'Who can read what is sent there: local, lan or remote.' }),
  state: Type.Union([Type.Literal('ready'), Type.Literal('busy'), Type.Literal('down')]),
  in_flight: counted('Requests that it has of this service.'),
  requests: counted('Since the service started, as all counts.'),
  failures: Type.Record(Type.String(), Count, { description: 'By kind.' }),
  spills: counted(
    'Requests that went elsewhere because it had too much to do, although it knew their prompts.',
  ),
  affinity_hits: counted('Requests that went there because it knew their prompts or had their sessions.'),
  failovers: counted('Requests that failed there before their first words, and were sent elsewhere.'),
  resumptions: counted('Answers that failed there in the middle, and went on elsewhere.'),
};

export const WHY = 'What keeps it from being ready.';
export const FIRST_TOKEN_MS = 'From a request to its first words; a moving average.';

export const UpstreamView = Type.Object({
  ...UPSTREAM_FACTS,
  dialect: Type.Optional(Type.String({ description: 'Absent for what this service runs or starts itself.' })),
  why: Type.Optional(Type.String({ description: WHY })),
  until_ms: Type.Optional(
    Type.Integer({
      description: 'When being busy ends, or one that is down may be tried. Unix milliseconds.',
    }),
  ),
  first_token_ms: Type.Optional(Type.Number({ description: FIRST_TOKEN_MS })),
  running: Type.Optional(counted('Requests that run there, whoever sent them.')),
  waiting: Type.Optional(counted('Requests that wait there for room.')),
  capacity: Type.Optional(counted('Requests that it runs at the same time.')),
  kv_use: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Share of its KV cache that is in use.' }),
  ),
});
export type UpstreamView = Static<typeof UpstreamView>;
