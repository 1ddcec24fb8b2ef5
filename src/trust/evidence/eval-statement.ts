/**
 * The shape of a card: the signed results of `hearth eval`. It shares the parts about signer, models and libraries
 * with other records. This schema is the source; docs/schemas/evidence-eval-v1.json is generated from it.
 */
import { type Static, Type } from 'typebox';
import {
  Backend,
  count,
  EXACT,
  Issuer,
  Model,
  orNull,
  Server,
  sha256,
  statementSchema,
  text,
} from './statement.ts';

export const EVAL_TYPE = 'urn:svc:evidence:eval-v1';

/** The `object` of the document that `hearth eval --json` prints. */
export const EVAL_OBJECT = 'svc.eval';

/** Null for NaN and infinity, for example if a model has invalid logits. */
const figure = (description: string) => orNull(Type.Number({ description }));

export const TextFigures = Type.Object(
  {
    name: text('Of the text.', 64),
    tokens: count('Tokens that were predicted.'),
    perplexity: figure('Of its tokens.'),
    bits_per_byte: figure('Models with different vocabularies can be compared by it.'),
    same_choice: figure('The share of tokens at which the reference finds the same next token likeliest.'),
    reference_bits_per_byte: figure('The same of the reference.'),
  },
  EXACT,
);
export type TextFigures = Static<typeof TextFigures>;

const Cases = Type.Object(
  {
    all: count('Calls, JSON answers and past calls.'),
    passed: count('Of them.'),
    left: count('Not tried; `not_tried` says why.'),
    failed: Type.Array(
      Type.Object(
        { name: text('Of the case.', 128), kind: text('Its kind.', 16), reason: text('Why.', 2048) },
        EXACT,
      ),
      { maxItems: 256 },
    ),
  },
  EXACT,
);

export const Needle = Type.Object(
  {
    window: count('Tokens of the window that a load gets here.'),
    tokens: count('Tokens of the text, as much of the window as is read in time.'),
    facts: count('Facts that the text has.'),
    missed: Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
      maxItems: 16,
      description: 'Where those stand in the text that the model did not recall; 0: at its beginning.',
    }),
  },
  EXACT,
);
export type Needle = Static<typeof Needle>;

export const NotTried = Type.Object(
  {
    what: text('What was to be tried.', 64),
    count: orNull(count('How much of it; null: all.')),
    why: text('After "because".', 256),
  },
  EXACT,
);
export type NotTried = Static<typeof NotTried>;

const Against = Type.Object(
  {
    reference: text('Its id.'),
    tokens: count('Tokens that both models predicted; 0: they split text differently.'),
    same_choice: figure('The share of them at which both find the same next token likeliest.'),
    divergence: figure('Mean KL divergence from the reference per token, nats; at least this much.'),
    loss_ratio: figure('Bits per byte over those of the reference.'),
    read_ratio: figure('Speed of prompts over that of the reference.'),
    written_ratio: figure('Speed of answers over that of the reference.'),
    memory_ratio: figure('Memory over that of the reference.'),
    differences: Type.Array(text('What the files or settings of the two have otherwise.', 512), {
      maxItems: 16,
      description: 'Of what decides predictions, tokens or prompts.',
    }),
  },
  EXACT,
);

export const EvalReport = Type.Object(
  {
    object: Type.Literal(EVAL_OBJECT),
    model: text('Its id.'),
    verdict: text('In a sentence.', 1024),
    findings: Type.Array(text('What is wrong with it, compared with the reference.', 1024), { maxItems: 16 }),
    whole: TextFigures,
    texts: Type.Array(TextFigures, { maxItems: 64 }),
    own: orNull(
      Type.Object(
        {
          requests: count('Recorded requests that were scored; none of their text is here.'),
          ...TextFigures.properties,
        },
        EXACT,
      ),
    ),
    cases: Cases,
    needle: orNull(Needle),
    not_tried: Type.Array(NotTried, { maxItems: 8 }),
    speed: Type.Object(
      {
        read_per_s: figure('Prompt tokens per second.'),
        written_per_s: figure('Tokens of an answer per second.'),
      },
      EXACT,
    ),
    memory_bytes: count('With four slots of 2,048 tokens.'),
    against: orNull(Against),
  },
  EXACT,
);
export type EvalReport = Static<typeof EvalReport>;

const UpstreamModel = Type.Object(
  {
    id: text('Its id here.'),
    upstream: text('What the service is called here.', 160),
    stated_sha256: orNull(sha256('The model file, as the service states.')),
  },
  EXACT,
);

export const EvalPredicate = Type.Object(
  {
    issuer: Issuer,
    model: Model,
    reference: orNull(Type.Union([Model, UpstreamModel])),
    server: Server,
    backend: Backend,
    settings: Type.Object({ sha256: sha256('Canonical JSON of what is set for loads of the model.') }, EXACT),
    set: Type.Object({ texts_sha256: sha256('Canonical JSON of the texts.') }, EXACT),
    report: EvalReport,
  },
  EXACT,
);
export type EvalPredicate = Static<typeof EvalPredicate>;

export const EvalStatement = statementSchema(EVAL_TYPE, EvalPredicate, {
  $id: 'EvidenceEvalV1',
  title: 'eval-v1 evidence',
  response: 'Canonical JSON of the report.',
  result: ['model', 'The model file.'],
});
export type EvalStatement = Static<typeof EvalStatement>;
