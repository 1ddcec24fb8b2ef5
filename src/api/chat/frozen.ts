/** A chat answer in mode frozen-v1: the job pinned before it runs, the record signed after it. Never one without the other. */
import { buildEvidence } from '../../trust/evidence/record.ts';
import { type FrozenRequest, freezeRequest, isNonce } from '../../trust/evidence/freeze.ts';
import type { Predicate } from '../../trust/evidence/statement.ts';
import type { GenerateJob } from '../../contract/job.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { InstalledModel } from '../../store/registry/registry.ts';
import { requestHeaderNames } from '../../wire/headers.ts';
import type { ChatRequest, ChatResponse } from '../../wire/inference/chat.ts';
import { type ChatAnswer, completeChat, type PreparedChat } from './chat.ts';
import type { RequestFacts, Service } from '../service.ts';

export interface FrozenInput {
  readonly body: ChatRequest;
  /** The bytes that the socket delivered. */
  readonly rawBody: Uint8Array;
  readonly nonce: string | undefined;
}

export interface FrozenAnswer {
  /** The body as it is sent; the digest header is over these very bytes. */
  readonly json: string;
  readonly numCtx: number;
  /** Names the signed statement; lower-case hex. */
  readonly evidenceSha256: string;
}

export async function completeFrozen(
  service: Service,
  prepared: PreparedChat,
  input: FrozenInput,
  request: RequestFacts,
): Promise<FrozenAnswer> {
  const { evidence } = service;
  if (evidence === undefined) throw unavailable('this process signs no records');
  const backend = await evidence.backend();
  if (backend === null) throw fail('native_unavailable', { reason: 'no native backend is installed' });
  const frozen = freezeRequest(
    input.rawBody,
    { ...input.body },
    {
      nowMs: service.clock.unixMs(),
      nonce: checkedNonce(input.nonce),
    },
  );
  // Before the run, so that a model whose bytes cannot be named costs nothing.
  const model = await modelOf(service, prepared.model);
  const answer = await completeChat(service, pin(prepared, frozen), request);
  const { facts, finishReason } = factsOf(answer);
  const { member, payloadSha256 } = buildEvidence({
    identity: evidence.identity,
    chain: evidence.chain,
    request: frozen,
    frozen: { ...facts, workerStart: evidence.workerStart(facts.host.pid) },
    finishReason,
    model,
    server: await evidence.server(),
    backend,
    response: answer.body,
    nowMs: service.clock.unixMs(),
  });
  const body: ChatResponse = { ...answer.body, evidence: { ...member } };
  const json = JSON.stringify(body);
  return { json, numCtx: answer.numCtx, evidenceSha256: payloadSha256 };
}

/** The jobs of a request as a frozen run takes them: seed, temperature and clock as the request or the mode decided. */
export function pin(prepared: PreparedChat, frozen: FrozenRequest): PreparedChat {
  const [job, ...others] = prepared.generation.jobs;
  if (job === undefined || others.length > 0) {
    throw fail('unsupported_value', {
      param: 'n',
      message: 'n must be 1 in mode frozen-v1, because one record speaks of one answer.',
    });
  }
  const { seed, temperature, templateClockMs } = frozen;
  const pinned: GenerateJob = {
    ...job,
    sampling: { ...job.sampling, seed, temperature },
    templateClockMs,
    lane: 'frozen',
  };
  return { ...prepared, generation: { ...prepared.generation, jobs: [pinned] } };
}

/** The nonce of the request, or a refusal that names its header. */
export function checkedNonce(nonce: string | undefined): string | null {
  if (nonce === undefined) return null;
  if (isNonce(nonce)) return nonce;
  const header = requestHeaderNames.evidenceNonce;
  throw fail('unsupported_value', {
    param: header,
    message: `${header} must be 1 to 128 visible ASCII characters.`,
  });
}

function factsOf(answer: ChatAnswer) {
  const [done] = answer.done;
  if (done?.frozen === undefined) throw unavailable('the engine gave no account of the run');
  return { facts: done.frozen, finishReason: done.finishReason };
}

async function modelOf(service: Service, model: InstalledModel): Promise<Predicate['model']> {
  const { files, headerSha256 } = await service.registry.provenance.of(model);
  const [first, ...shards] = files;
  return {
    id: model.id,
    blob_sha256: first.sha256,
    size: first.sizeBytes,
    shards: shards.map(({ sha256, sizeBytes }) => ({ sha256, size: sizeBytes })),
    gguf_header_sha256: headerSha256,
  };
}

const unavailable = (reason: string): Error => fail('evidence_unavailable', { reason });
