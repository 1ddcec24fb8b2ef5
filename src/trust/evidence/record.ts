/**
 * trust/evidence owns records: making, signing, checking and comparing them. It knows nothing of HTTP or of how an
 * answer is computed: facts come in, a record goes out. This file builds and signs the record of one answer.
 */
import type { FrozenFacts } from '../../contract/frozen.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { canonicalSha256, sha256Hex } from '../identity/canonical.ts';
import { type Envelope, seal } from '../identity/dsse.ts';
import type { InstanceIdentity } from '../identity/instance.ts';
import type { ChainLink, EvidenceChain } from './chain.ts';
import type { FrozenRequest, NamedRequest } from './freeze.ts';
import { statedSampling } from './stated-sampling.ts';
import {
  EVIDENCE_PAYLOAD_TYPE,
  type Predicate,
  PREDICATE_TYPE,
  type Statement,
  STATEMENT_TYPE,
} from './statement.ts';

/** The member of the response: a DSSE envelope, and the token ids, which are unsigned but bound by their digest. */
export interface EvidenceMember extends Envelope {
  /** Base64 of the bytes whose digest is the subject `output-tokens`; drop it before passing the record on. */
  readonly output_tokens: string;
}

export interface AnsweredResponse {
  readonly model: string;
  readonly choices: unknown;
  readonly usage: unknown;
}

export interface AnsweredVectors {
  readonly model: string;
  readonly data: unknown;
  readonly usage: unknown;
}

export interface EvidenceFacts {
  readonly identity: InstanceIdentity;
  readonly chain: EvidenceChain;
  readonly request: FrozenRequest;
  readonly frozen: FrozenFacts;
  readonly finishReason: Predicate['output']['finish_reason'];
  readonly model: Predicate['model'];
  readonly server: Predicate['server'];
  readonly backend: BackendProvenance;
  readonly response: AnsweredResponse;
  readonly nowMs: number;
}

export interface BackendProvenance {
  readonly sha256: string;
  readonly files: readonly { readonly name: string; readonly sha256: string; readonly inode: number }[];
  readonly llamaRelease: string;
  readonly buildMetadataSha256: string | null;
}

export interface Evidence {
  readonly member: EvidenceMember;
  readonly payloadSha256: string;
}

export function buildEvidence(facts: EvidenceFacts): Evidence {
  const { envelope, payloadSha256 } = signStatement(facts, (issuer) => makeStatement(facts, issuer));
  return { member: { ...envelope, output_tokens: facts.frozen.output.tokens }, payloadSha256 };
}

export type Signer = Pick<EvidenceFacts, 'identity' | 'chain' | 'nowMs'>;

export function signStatement(
  { identity, chain, nowMs }: Signer,
  statement: (issuer: Predicate['issuer']) => object,
): { readonly envelope: Envelope; readonly payloadSha256: string } {
  const payload = chain.append((link) =>
    Buffer.from(JSON.stringify(statement(statedIssuer(identity, link, nowMs)))),
  );
  const envelope = seal(identity.keys, EVIDENCE_PAYLOAD_TYPE, payload);
  return { envelope, payloadSha256: sha256Hex(payload) };
}

function statedIssuer(identity: InstanceIdentity, link: ChainLink, nowMs: number): Predicate['issuer'] {
  return {
    instance_id: identity.instanceId,
    boot_id: identity.bootId,
    keyid: identity.keys.keyid,
    ...link,
    issued_at: isoSecond(nowMs),
  };
}

export function statedRequest({
  rawSha256,
  canonicalSha256,
  nonce,
  route,
}: NamedRequest & Pick<FrozenRequest, 'route'>): Predicate['request'] {
  return {
    raw_body_sha256: rawSha256,
    canonical_sha256: canonicalSha256,
    mode: 'frozen-v1',
    ...(route === undefined ? {} : { route }),
    ...(nonce === null ? {} : { nonce }),
  };
}

/** The digest of the subject `response`. id and created vary from run to run, so they are left out. */
export function responseSha256({ model, choices, usage }: AnsweredResponse): string {
  return canonicalSha256({ model, choices, usage });
}

function makeStatement(facts: EvidenceFacts, issuer: Predicate['issuer']): Statement {
  const { request, frozen, response } = facts;
  const predicate: Predicate = {
    issuer,
    request: statedRequest(request),
    prompt: statedPrompt(frozen),
    model: facts.model,
    server: facts.server,
    backend: statedBackend(facts.backend, frozen.host),
    exec: statedExec(frozen),
    sampling: statedSampling(frozen, request.defaulted),
    output: statedOutput(frozen, facts.finishReason),
  };
  return {
    _type: STATEMENT_TYPE,
    subject: [
      { name: 'response', digest: { sha256: responseSha256(response) } },
      { name: 'output-tokens', digest: { sha256: frozen.output.tokensSha256 } },
    ],
    predicateType: PREDICATE_TYPE,
    predicate,
  };
}

export function statedBackend(backend: BackendProvenance, host: FrozenFacts['host']): Predicate['backend'] {
  return {
    backend_sha256: backend.sha256,
    closure: statedClosure(backend, host.mapped),
    llama_commit: backend.llamaRelease,
    build_flags_sha256: backend.buildMetadataSha256,
    cpu_features: host.cpuFeatures,
    libc: host.libc,
    ...(host.binding === undefined ? {} : { binding: host.binding }),
  };
}

export function statedPrompt({ prompt }: FrozenFacts): Predicate['prompt'] {
  return {
    template_sha256: prompt.templateSha256,
    template_clock: isoSecond(prompt.templateClockMs),
    rendered_sha256: prompt.renderedSha256,
    tokens_sha256: prompt.tokensSha256,
    n_tokens: prompt.tokenCount,
    add_bos: prompt.addBos,
  };
}

export function statedOutput(
  { output }: FrozenFacts,
  finishReason: Predicate['output']['finish_reason'],
): Predicate['output'] {
  return {
    finish_reason: finishReason,
    n_tokens: output.tokenCount,
    tokens_sha256: output.tokensSha256,
    trace_sha256: output.traceSha256,
    min_margin: output.minMargin,
  };
}

export function statedExec(frozen: FrozenFacts): Predicate['exec'] {
  const { exec } = frozen;
  if (exec.gpuLayers !== 0) throw fail('evidence_unavailable', { reason: 'the model has layers on a GPU' });
  return {
    n_ctx: exec.numCtx,
    n_batch: exec.batchSize,
    n_ubatch: exec.microBatchSize,
    ...(exec.lane === undefined ? {} : { lane: exec.lane }),
    n_seq: exec.sequences,
    n_threads: exec.threads,
    n_threads_observed: exec.threadsObserved,
    flash_attn: exec.flashAttention,
    type_k: exec.typeK,
    type_v: exec.typeV,
    n_gpu_layers: 0,
    use_mmap: exec.useMmap,
    repack: exec.repack,
    omp: exec.openMp,
    kv: exec.lane === undefined ? 'fresh' : 'shared',
    prefix_reuse: exec.lane !== undefined,
    spec_decode: false,
    ctx_shift: false,
    worker_gen: frozen.workerStart ?? 1,
  };
}

/** Each mapped file with its hash from before the load; an unknown file means that other bytes ran. */
export function statedClosure(
  backend: BackendProvenance,
  mapped: FrozenFacts['host']['mapped'],
): { name: string; sha256: string }[] {
  const known = new Map(backend.files.map((file) => [file.name, file]));
  return mapped.map(({ name, inode }) => {
    const file = known.get(name);
    if (file === undefined || (inode !== null && inode !== file.inode)) {
      throw fail('evidence_unavailable', {
        reason: `the worker mapped a ${name} that was not hashed at boot`,
      });
    }
    return { name, sha256: file.sha256 };
  });
}

/** A whole second of UTC, the form of times in records. */
export function isoSecond(unixMs: number): string {
  return new Date(Math.floor(unixMs / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}
