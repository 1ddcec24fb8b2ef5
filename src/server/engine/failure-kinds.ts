/** Kinds of failures of upstreams: the balancer decides by them, and metrics count them. */
export type FailureKind =
  | 'connect'
  | 'timeout'
  /** The answer began, then nothing more arrived. */
  | 'stall'
  /** Status 5xx except 503. */
  | 'server_error'
  /** Invalid answer: truncated, not JSON, or without an end. */
  | 'broken'
  /** Status 429 or 503. */
  | 'refused'
  | 'model_gone'
  /** The upstream rejects Hearth's key or does not prove its identity. */
  | 'denied'
  /** Any other 4xx: the request is at fault and would fail at any upstream. */
  | 'declined';

export const FAILURE_KINDS: readonly FailureKind[] = [
  'connect',
  'timeout',
  'stall',
  'server_error',
  'broken',
  'refused',
  'model_gone',
  'denied',
  'declined',
];
