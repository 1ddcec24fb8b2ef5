import { fail } from '../../lib/errors/svc-error.ts';
import { type ResolveAll, resolveWithSystem } from './address-guard.ts';
import type { HubAccess } from './hub-request.ts';

export interface AccessOptions {
  /** `HF_ENDPOINT`: the only hub in use, and the only origin that gets the token. */
  readonly endpoint?: string;
  readonly token?: string | null;
  readonly trustedHosts?: readonly string[];
  readonly stallMs?: number;
  readonly resolveAll?: ResolveAll;
}

const DEFAULT_ENDPOINT = 'https://huggingface.co';
const STALL_MS = 30_000;

export function openAccess(options: AccessOptions): HubAccess {
  return {
    endpoint: parseEndpoint(options.endpoint ?? DEFAULT_ENDPOINT),
    trustedHosts: options.trustedHosts ?? [],
    resolveAll: options.resolveAll ?? resolveWithSystem,
    token: options.token ?? null,
    stallMs: options.stallMs ?? STALL_MS,
    userAgent: 'hearth',
  };
}

function parseEndpoint(text: string): URL {
  try {
    return new URL(text);
  } catch (error) {
    throw fail(
      'invalid_request',
      { param: 'HF_ENDPOINT', message: `HF_ENDPOINT is not a URL: ${text}.` },
      error,
    );
  }
}
