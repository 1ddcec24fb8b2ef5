/** A file is sent as a form, which handlers read part by part; everything else of OpenAI's batch API is JSON. */
import { type Static, Type } from 'typebox';
import { orNull } from './schema.ts';

export const BATCH_ENDPOINTS = {
  '/v1/chat/completions': 'chatCompletions',
  '/v1/completions': 'completions',
  '/v1/embeddings': 'embeddings',
  '/v1/responses': 'responses',
} as const;
export type BatchEndpoint = keyof typeof BATCH_ENDPOINTS;

export const FileObject = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('file'),
    bytes: Type.Integer(),
    created_at: Type.Integer(),
    expires_at: Type.Integer(),
    filename: Type.String(),
    purpose: Type.String({ description: 'batch for what was sent, batch_output for answers.' }),
    status: Type.Literal('processed'),
  },
  { $id: 'File' },
);
export type FileObject = Static<typeof FileObject>;

const page = {
  object: Type.Literal('list'),
  first_id: orNull(Type.String()),
  last_id: orNull(Type.String()),
  has_more: Type.Boolean(),
};

export const FileList = Type.Object({ ...page, data: Type.Array(FileObject) }, { $id: 'FileList' });
export type FileList = Static<typeof FileList>;

export const DeletedFile = Type.Object(
  { id: Type.String(), object: Type.Literal('file'), deleted: Type.Literal(true) },
  { $id: 'DeletedFile' },
);
export type DeletedFile = Static<typeof DeletedFile>;

const pageQuery = {
  after: Type.Optional(Type.String({ maxLength: 128, description: 'The id after which the page begins.' })),
  limit: Type.Optional(Type.String({ pattern: '^[0-9]{1,5}$' })),
};

export const FilesQuery = Type.Object({
  ...pageQuery,
  order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
  purpose: Type.Optional(Type.String({ maxLength: 64 })),
});
export type FilesQuery = Static<typeof FilesQuery>;

export const BatchesQuery = Type.Object(pageQuery);
export type BatchesQuery = Static<typeof BatchesQuery>;

export const BatchRequest = Type.Object(
  {
    input_file_id: Type.String({ minLength: 1, maxLength: 128 }),
    endpoint: Type.Unsafe<BatchEndpoint>({ type: 'string', enum: Object.keys(BATCH_ENDPOINTS) }),
    completion_window: Type.String({
      maxLength: 16,
      description:
        'A duration such as 24h, from a minute to 30 days; what is not done by then is not done any more.',
    }),
    metadata: Type.Optional(
      Type.Unsafe<Record<string, string> | null>({
        type: ['object', 'null'],
        maxProperties: 16,
        additionalProperties: { type: 'string', maxLength: 512 },
      }),
    ),
    output_expires_after: Type.Optional(
      Type.Unsafe<{ anchor: 'created_at'; seconds: number } | null>({
        type: ['object', 'null'],
        properties: {
          anchor: { const: 'created_at' },
          seconds: { type: 'integer', minimum: 3600, maximum: 2_592_000 },
        },
        required: ['anchor', 'seconds'],
      }),
    ),
  },
  { $id: 'BatchRequest' },
);
export type BatchRequest = Static<typeof BatchRequest>;

export const BATCH_STATES = [
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
] as const;
export type BatchState = (typeof BATCH_STATES)[number];

const BatchError = Type.Object({
  code: Type.String(),
  message: Type.String(),
  param: orNull(Type.String()),
  line: orNull(Type.Integer()),
});
export type BatchError = Static<typeof BatchError>;

const time = orNull(Type.Integer());

export const Batch = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('batch'),
    endpoint: Type.String(),
    errors: orNull(Type.Object({ object: Type.Literal('list'), data: Type.Array(BatchError) })),
    input_file_id: Type.String(),
    completion_window: Type.String(),
    status: Type.Unsafe<BatchState>({ type: 'string', enum: BATCH_STATES }),
    output_file_id: orNull(Type.String()),
    error_file_id: orNull(Type.String()),
    created_at: Type.Integer(),
    in_progress_at: time,
    expires_at: Type.Integer(),
    finalizing_at: time,
    completed_at: time,
    failed_at: time,
    expired_at: time,
    cancelling_at: time,
    cancelled_at: time,
    request_counts: Type.Object({
      total: Type.Integer(),
      completed: Type.Integer(),
      failed: Type.Integer(),
    }),
    metadata: orNull(Type.Unsafe<Record<string, string>>({ type: 'object' })),
  },
  { $id: 'Batch' },
);
export type Batch = Static<typeof Batch>;

export const BatchList = Type.Object({ ...page, data: Type.Array(Batch) }, { $id: 'BatchList' });
export type BatchList = Static<typeof BatchList>;
