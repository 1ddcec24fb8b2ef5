/**
 * The shape of a record of vectors. It shares the parts about signer, model and libraries with the record of an
 * answer. This schema is the source; docs/schemas/evidence-vectors-v1.json is generated from it.
 */
import { type Static, Type } from 'typebox';
import { TEXTS_OF_ONE_REQUEST } from '../../contract/limits.ts';
import {
  Backend,
  count,
  EXACT,
  Issuer,
  Model,
  Request,
  Server,
  sha256,
  statementSchema,
  text,
} from './statement.ts';

export const VECTORS_TYPE = 'urn:svc:evidence:vectors-v1';
export const EMBEDDINGS_ROUTE = '/v1/embeddings';

const Exec = Type.Object(
  {
    n_ctx: count('Tokens of one input at most; longer ones are cut or refused.'),
    n_threads: count('Threads that an input gets that is alone; they change no bit.'),
    contexts: Type.Array(
      Type.Object(
        {
          longest: count('Tokens of its inputs at most.'),
          flash_attn: Type.Boolean(),
        },
        EXACT,
      ),
      {
        minItems: 1,
        maxItems: 4,
        description: 'What computes inputs by their length, each input by itself.',
      },
    ),
    n_gpu_layers: Type.Literal(0),
    use_mmap: Type.Boolean(),
    repack: Type.Boolean(),
    omp: Type.Boolean(),
    worker_gen: count('Which start of the worker in this boot ran it.'),
  },
  EXACT,
);

const Input = Type.Object(
  {
    tokens_sha256: sha256("Ids of its tokens as little-endian u32, the model's own first and last included."),
    n_tokens: count('Its tokens.'),
    truncated: Type.Boolean({ description: 'It was longer than n_ctx, and is cut to that.' }),
  },
  EXACT,
);

const Vectors = Type.Object(
  {
    width: count('Numbers of a vector.'),
    model_width: count('Numbers that the model gives; more were cut, fewer are followed by zeros.'),
    pooling: text('How the vectors of tokens become one.', 16),
    normalisation: Type.Literal('l2', {
      description: 'A vector is scaled to length 1; one that is cut, again.',
    }),
    inputs: Type.Array(Input, {
      minItems: 1,
      maxItems: TEXTS_OF_ONE_REQUEST,
      description: 'In the order of the request.',
    }),
  },
  EXACT,
);

export const VectorPredicate = Type.Object(
  {
    issuer: Issuer,
    request: Type.Object(
      { ...Request.properties, route: Type.Literal(EMBEDDINGS_ROUTE, { description: 'Where it was sent.' }) },
      EXACT,
    ),
    model: Model,
    server: Server,
    backend: Backend,
    exec: Exec,
    vectors: Vectors,
  },
  EXACT,
);
export type VectorPredicate = Static<typeof VectorPredicate>;

export const VectorStatement = statementSchema(VECTORS_TYPE, VectorPredicate, {
  $id: 'EvidenceVectorsV1',
  title: 'vectors-v1 evidence',
  response:
    'Canonical JSON of {data, model, usage} of the response, with its vectors as encoding_format=base64 writes them.',
  result: ['vectors', 'The numbers of all vectors in their order, as little-endian f32.'],
});
export type VectorStatement = Static<typeof VectorStatement>;
