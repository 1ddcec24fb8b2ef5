/** A chat answer in mode frozen-v1, whole or as a stream that ends with its record. */
import type { UnheldKeyword } from '../../../contract/job-event.ts';
import type { Engine } from '../../../engine/ports.ts';
import type { EvidenceIssuer } from '../../../trust/evidence/issuer.ts';
import type { ChatRequest } from '../../../wire/inference/chat.ts';
import type { Caller } from '../../caller.ts';
import { completeChat } from '../../chat/chat.ts';
import type { Collected } from '../../chat/collected.ts';
import type { Choices } from '../../generation/choices.ts';
import {
  type FrozenInput,
  openFrozen,
  recordMembers,
  type SignedBody,
  signedBody,
} from '../../generation/frozen.ts';
import { wholeAnswer, type WholeAnswerPorts } from './whole-answer.ts';

interface AskedFrozen extends FrozenInput {
  readonly body: ChatRequest;
  readonly caller: Caller;
}

export interface FrozenAnswer extends SignedBody {
  readonly numCtx: number;
  /** How the conversation was changed for the template. */
  readonly folds: readonly string[];
  readonly unheld?: readonly UnheldKeyword[];
}

export interface FrozenPorts extends WholeAnswerPorts {
  readonly engine: Pick<Engine, 'submit'>;
  readonly evidence: EvidenceIssuer | null;
}

export async function completeFrozen(
  ports: FrozenPorts,
  choices: Choices,
  input: AskedFrozen,
): Promise<FrozenAnswer> {
  const { pinned, sign } = await openFrozen(ports.evidence, choices, input);
  const collected = await completeChat(ports.engine, pinned, input.caller);
  const { body, numCtx, folds, unheld, done } = await wholeAnswer(ports, choices.model, collected);
  return { ...signedBody(body, await sign(body, done[0])), numCtx, folds, unheld };
}

/** The record of a streamed answer, with the answer as a whole, which is what it is of. */
export async function streamFrozen(
  ports: FrozenPorts,
  choices: Choices,
  input: AskedFrozen,
): Promise<ProvedStream> {
  const { pinned, sign } = await openFrozen(ports.evidence, choices, input);
  const recordOf = async (collected: Collected): Promise<object> => {
    const { body, done } = await wholeAnswer(ports, choices.model, collected);
    return recordMembers(body, await sign(body, done[0]));
  };
  return { pinned, recordOf };
}

/** A stream whose last event will be a record. */
export interface ProvedStream {
  readonly pinned: Choices;
  readonly recordOf: (answer: Collected) => Promise<object>;
}
