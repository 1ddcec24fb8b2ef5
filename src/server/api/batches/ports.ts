import type { JobGate } from '../../engine/ports.ts';
import type { SvcError } from '../../../lib/errors/svc-error.ts';
import type { BatchEndpoint } from '../../../wire/batches.ts';
import type { Caller } from '../caller.ts';

export interface LineEdge {
  /** Rejects with SvcError, also if the body does not match the endpoint's schema. */
  answer(endpoint: BatchEndpoint, body: object, caller: Caller): Promise<object>;
  refusal(error: SvcError, requestId: string): { readonly status: number; readonly body: object };
  readonly mostBytes: number;
}

export type FindRights = (owner: string) => Promise<Rights | null>;

export interface Rights {
  readonly gate: JobGate | undefined;
  readonly name: string;
}
