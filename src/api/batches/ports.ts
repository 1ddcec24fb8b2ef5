import type { JobGate } from '../../engine/ports.ts';
import type { SvcError } from '../../lib/errors/svc-error.ts';
import type { BatchEndpoint } from '../../wire/batches.ts';
import type { Caller } from '../caller.ts';

/** How one line is answered: as the endpoint answers a request. */
export interface LineEdge {
  /** Rejects with SvcError, also where the body is not what the endpoint takes. */
  answer(endpoint: BatchEndpoint, body: object, caller: Caller): Promise<object>;
  /** What a client of the endpoint would be told. */
  refusal(error: SvcError, requestId: string): { readonly status: number; readonly body: object };
  /** Of one body. */
  readonly mostBytes: number;
}

/** What an owner may still do; null: nothing, for its key is gone or has expired. */
export type FindRights = (owner: string) => Promise<Rights | null>;

export interface Rights {
  readonly gate: JobGate | undefined;
  /** For people. */
  readonly name: string;
}
