/** The server rebuilds these from their code and a detail that it has checked. */
import type { ErrorCode } from '../lib/errors/catalogue.ts';

/** Any other error thrown in a worker is a defect and crosses as `internal`. */
export const WORKER_CODES = [
  'cancelled',
  'context_length_exceeded',
  'evidence_unavailable',
  'audio_unread',
  'audio_unusable',
  'image_unusable',
  'images_too_many',
  'images_unread',
  'input_too_long',
  'input_unreadable',
  'internal',
  'invalid_request',
  'load_failed',
  'load_setting_unusable',
  'out_of_memory',
  'pin_refused',
  'query_too_long',
  'template_failed',
  'token_ids_refused',
  'wrong_model_kind',
] as const satisfies readonly ErrorCode[];
export type WorkerCode = (typeof WORKER_CODES)[number];
