/** A chat answer in mode frozen-v1, whole or as a stream that ends with its record: the job pinned before it runs, the record signed after it. Never one without the other. */
import type { FrozenRequest } from '../../../trust/evidence/freeze.ts';
import { isNonce } from '../../../trust/evidence/freeze.ts';
import type { EvidenceIssuer } from '../../../trust/evidence/issuer.ts';
import type { Predicate } from '../../../trust/evidence/statement.ts';
import { isExact } from '../../../contract/settings/exact-rules.ts';
import type { UnheldKeyword } from '../../../contract/job-event.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import type { Engine } from '../../../engine/ports.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { REQUEST_HEADERS } from '../../../wire/headers.ts';
import type { ChatChunk, ChatRequest, ChatResponse } from '../../../wire/inference/chat.ts';
import type { Caller } from '../../caller.ts';
import { completeChat } from '../../chat/chat.ts';
import type { Collected } from '../../chat/collected.ts';
import type { Choices } from '../../generation/choices.ts';
import type { ServedModel } from '../../models/served-model.ts';
import { type ChatAnswer, wholeAnswer, type WholeAnswerPorts } from './whole-answer.ts';

export interface FrozenInput {
  /** The bytes that the socket delivered. */
  readonly rawBody: Uint8Array;
  readonly nonce: string | undefined;
}

interface AskedFrozen extends FrozenInput {
  readonly body: ChatRequest;
  readonly caller: Caller;
}

export interface FrozenAnswer {
  /** The body as it is sent, byte for byte. */
  readonly json: string;
  readonly numCtx: number;
  /** How the conversation was changed for the template. */
  readonly folds: readonly string[];
  readonly unheld?: readonly UnheldKeyword[];
  /** Names the signed statement; lower-case hex. */
  readonly evidenceSha256: string;
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
  const { pinned, signed } = await openFrozen(ports, choices, input);
  const { answer, member, payloadSha256 } = await signed(
    await completeChat(ports.engine, pinned, input.caller),
  );
  const body: ChatResponse = { ...answer.body, evidence: { ...member } };
  return {
    json: JSON.stringify(body),
    numCtx: answer.numCtx,
    folds: answer.folds,
    unheld: answer.unheld,
    evidenceSha256: payloadSha256,
  };
}

/** The record of a streamed answer, with the answer as a whole, which is what it is of. */
export async function streamFrozen(
  ports: FrozenPorts,
  choices: Choices,
  input: AskedFrozen,
): Promise<ProvedStream> {
  const { pinned, signed } = await openFrozen(ports, choices, input);
  const recordOf = async (collected: Collected): Promise<RecordMembers> => {
    const { answer, member } = await signed(collected);
    const { model, choices: whole, usage } = answer.body;
    return { evidence: { ...member }, svc_answer: { model, choices: whole, usage } };
  };
  return { pinned, recordOf };
}

/** A stream whose last event will be a record. */
export interface ProvedStream {
  readonly pinned: Choices;
  readonly recordOf: (answer: Collected) => Promise<RecordMembers>;
}

type RecordMembers = Required<Pick<ChatChunk, 'evidence' | 'svc_answer'>>;

async function openFrozen(ports: FrozenPorts, choices: Choices, input: AskedFrozen) {
  const { evidence } = ports;
  checkCanFreeze(choices);
  if (evidence === null) throw unavailable('this process does not sign records');
  const backend = await evidence.backend();
  if (backend === null) throw fail('native_unavailable', { reason: 'no native backend is installed' });
  const request = evidence.freeze(input.rawBody, { ...input.body }, checkedNonce(input.nonce));
  // Before the run: a model whose bytes cannot be named then costs nothing.
  const { model, confirm } = await provenModel(choices.model);
  const pinned = pin(choices, request);
  const signed = async (collected: Collected) => {
    await confirm();
    const answer = await wholeAnswer(ports, choices.model, collected);
    const { member, payloadSha256 } = await evidence.issue({
      request,
      ...accountOf(answer),
      model,
      backend,
      response: answer.body,
    });
    return { answer, member, payloadSha256 };
  };
  return { pinned, signed };
}

/** The jobs of a request as a frozen run takes them: seed, temperature and clock as the request or the mode decided. */
function pin(choices: Choices, { seed, temperature, templateClockMs }: FrozenRequest): Choices {
  const [job, ...others] = choices.jobs;
  if (job === undefined || others.length > 0) {
    throw fail('unsupported_value', {
      param: 'n',
      message: 'n must be 1 in mode frozen-v1, because a record covers exactly one answer.',
    });
  }
  const pinned: GenerateJob = {
    ...job,
    sampling: { ...job.sampling, seed, temperature },
    templateClockMs,
    lane: isExact(choices.model.settings) ? 'exact' : 'frozen',
  };
  return { ...choices, jobs: [pinned] };
}

function checkCanFreeze({ model, submission }: Choices): void {
  if (submission.target.capabilities.canFreeze) return;
  const header = REQUEST_HEADERS.evidenceMode;
  throw fail('capability_missing', {
    model: model.id,
    ability: 'repeat an answer bit for bit, as frozen-v1 promises',
    remedy: `leave the header ${header} out`,
    param: header,
  });
}

/** The nonce of the request, or a refusal that names its header. */
export function checkedNonce(nonce: string | undefined): string | null {
  if (nonce === undefined) return null;
  if (isNonce(nonce)) return nonce;
  const header = REQUEST_HEADERS.evidenceNonce;
  throw fail('unsupported_value', {
    param: header,
    message: `${header} must be 1 to 128 visible ASCII characters.`,
  });
}

function accountOf({ done: [done] }: ChatAnswer) {
  if (done.frozen === undefined) throw unavailable('the engine reported nothing about the run');
  return { frozen: done.frozen, finishReason: done.finishReason };
}

async function provenModel({
  id,
  proof,
}: ServedModel): Promise<{ readonly model: Predicate['model']; readonly confirm: () => Promise<void> }> {
  if (proof === null) throw unavailable(`nothing proves which bytes of ${id} run`);
  const { files, headerSha256, confirm } = await proof();
  const [first, ...shards] = files;
  const model = {
    id,
    blob_sha256: first.sha256,
    size: first.sizeBytes,
    shards: shards.map(({ sha256, sizeBytes }) => ({ sha256, size: sizeBytes })),
    gguf_header_sha256: headerSha256,
  };
  return { model, confirm };
}

const unavailable = (reason: string): Error => fail('evidence_unavailable', { reason });
