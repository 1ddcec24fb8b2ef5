/**
 * An answer in mode frozen-v1: its job is pinned before it runs, and its record signed after it. Never one without
 * the other.
 */
import type { DoneEvent } from '../../../contract/job-event.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import { isExact } from '../../../contract/settings/exact-rules.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { type FrozenRequest, isNonce } from '../../../trust/evidence/freeze.ts';
import type { EvidenceIssuer } from '../../../trust/evidence/issuer.ts';
import type { AnsweredResponse, BackendProvenance, Evidence } from '../../../trust/evidence/record.ts';
import type { Predicate } from '../../../trust/evidence/statement.ts';
import { REQUEST_HEADERS } from '../../../wire/headers.ts';
import type { ServedModel } from '../models/served-model.ts';
import type { Choices } from './choices.ts';

export interface FrozenInput {
  readonly rawBody: Uint8Array;
  readonly nonce: string | undefined;
}

export interface SignedBody {
  readonly json: string;
  readonly evidenceSha256: string;
}

export interface AskedRecord extends Pick<FrozenRequest, 'route'> {
  readonly body: object;
}

export interface OpenedFrozen {
  readonly pinned: Choices;
  sign(response: AnsweredResponse, done: DoneEvent): Promise<Evidence>;
}

export async function openFrozen(
  evidence: EvidenceIssuer | null,
  choices: Choices,
  { rawBody, nonce, body, route }: FrozenInput & AskedRecord,
): Promise<OpenedFrozen> {
  checkCanFreeze(choices);
  const { issuer, backend } = await boundIssuer(evidence);
  const request = issuer.freeze(rawBody, { ...body }, { nonce: checkedNonce(nonce), route });
  // Before the run, so that a model whose bytes cannot be named costs nothing.
  const { model, confirm } = await provenModel(choices.model);
  return {
    pinned: pin(choices, request),
    sign: async (response, { frozen, finishReason }) => {
      await confirm();
      if (frozen === undefined) throw unavailable('the engine reported nothing about the run');
      return issuer.issue({ request, frozen, finishReason, model, backend, response });
    },
  };
}

export async function boundIssuer(
  issuer: EvidenceIssuer | null,
): Promise<{ readonly issuer: EvidenceIssuer; readonly backend: BackendProvenance }> {
  if (issuer === null) throw unavailable('this process does not sign records');
  const backend = await issuer.backend();
  if (backend === null) throw fail('native_unavailable', { reason: 'no native backend is installed' });
  return { issuer, backend };
}

export function signedBody<Body extends object>(body: Body, { member, payloadSha256 }: Evidence): SignedBody {
  return { json: JSON.stringify({ ...body, evidence: member }), evidenceSha256: payloadSha256 };
}

export function recordMembers(
  { model, choices, usage }: AnsweredResponse,
  { member }: Evidence,
): { readonly evidence: Record<string, unknown>; readonly svc_answer: AnsweredResponse } {
  return { evidence: { ...member }, svc_answer: { model, choices, usage } };
}

function pin(choices: Choices, { seed, temperature, templateClockMs }: FrozenRequest): Choices {
  const [job, ...others] = choices.jobs;
  if (job === undefined || others.length > 0) {
    throw fail('unsupported_value', {
      param: 'n',
      message:
        'n must be 1, and the prompt one, in mode frozen-v1, because a record covers exactly one answer.',
    });
  }
  if (job.scoredPrompt !== undefined) {
    throw fail('unsupported_value', {
      param: 'prompt_logprobs',
      message:
        'Log probabilities of a prompt have no place in a record; leave prompt_logprobs out, or echo beside logprobs.',
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

export function checkedNonce(nonce: string | undefined): string | null {
  if (nonce === undefined) return null;
  if (isNonce(nonce)) return nonce;
  const header = REQUEST_HEADERS.evidenceNonce;
  throw fail('unsupported_value', {
    param: header,
    message: `${header} must be 1 to 128 visible ASCII characters.`,
  });
}

/** The model's bytes as a record names them; call `confirm` after the run. */
export async function provenModel({ id, proof }: Pick<ServedModel, 'id' | 'proof'>): Promise<{
  readonly model: Predicate['model'];
  readonly confirm: () => Promise<void>;
}> {
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

export const unavailable = (reason: string): Error => fail('evidence_unavailable', { reason });
