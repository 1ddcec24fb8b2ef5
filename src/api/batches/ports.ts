import type { JobGate } from '../../engine/ports.ts';
import type { SvcError } from '../../lib/errors/svc-error.ts';
import type { BatchEndpoint } from '../../wire/batches.ts';
import type { Caller } from '../caller.ts';

/** Answers one line as the endpoint would answer a request. */
export interface LineEdge {
  /** Rejects with SvcError, also where the body is not what the endpoint takes. */
  answer(endpoint: BatchEndpoint, body: object, caller: Caller): Promise<object>;
  /** The response that a client of the endpoint would get. */
  refusal(error: SvcError, requestId: string): { readonly status: number; readonly body: object };
  readonly mostBytes: number;
}

/** Current rights of an owner; null if its key was removed or has expired. */
export type FindRights = (owner: string) => Promise<Rights | null>;

export interface Rights {
  readonly gate: JobGate | undefined;
  readonly name: string;
}
