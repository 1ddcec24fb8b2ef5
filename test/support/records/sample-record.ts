/** A record of a made-up run, signed with a real key: for tests of signing and checking that need no engine. */
import type { FrozenFacts } from '../../../src/contract/frozen.ts';
import { recordedSampling } from '../../../src/contract/sampling-shapes.ts';
import { newEvidenceChain } from '../../../src/trust/evidence/chain.ts';
import { freezeRequest, derivedSeed } from '../../../src/trust/evidence/freeze.ts';
import { buildEvidence, type EvidenceFacts } from '../../../src/trust/evidence/record.ts';
import type { Predicate, Statement } from '../../../src/trust/evidence/statement.ts';
import { canonicalSha256, sha256Hex } from '../../../src/trust/identity/canonical.ts';
import { type InstanceIdentity, newInstanceKeys } from '../../../src/trust/identity/instance.ts';
import { deriveInstanceId } from '../../../src/trust/identity/instance-id.ts';

export const requestBody = {
  model: 'tiny',
  messages: [{ role: 'user', content: 'Grüße, 世界' }],
  max_tokens: 4,
  temperature: 0,
};
export const requestBytes = Buffer.from(JSON.stringify(requestBody));

const tokens = Buffer.from(Uint32Array.of(5, 9, 70000, 2).buffer);
const digest = (name: string): string => sha256Hex(`sample ${name}`);

export const frozenFacts: FrozenFacts = {
  prompt: {
    templateSha256: digest('template'),
    templateClockMs: 1_790_000_000_000,
    renderedSha256: digest('rendered'),
    tokensSha256: digest('prompt tokens'),
    tokenCount: 17,
    addBos: true,
  },
  exec: {
    numCtx: 1024,
    batchSize: 256,
    microBatchSize: 256,
    sequences: 1,
    threads: 2,
    threadsObserved: 2,
    flashAttention: true,
    typeK: 'f16',
    typeV: 'f16',
    gpuLayers: 0,
    useMmap: true,
    openMp: false,
    repack: true,
  },
  host: {
    pid: 1,
    mapped: [
      { name: 'llama-addon.node', inode: 1 },
      { name: 'libggml.so', inode: null },
    ],
    cpuFeatures: 'AVX2 = 1',
    libc: 'glibc 2.36',
  },
  sampling: {
    ...recordedSampling({ temperature: 0, seed: derivedSeed(canonicalSha256(requestBody)) }),
    chain: ['greedy'],
    maxTokens: 4,
    stop: [],
  },
  output: {
    tokens: tokens.toString('base64'),
    tokenCount: 4,
    tokensSha256: sha256Hex(tokens),
    traceSha256: digest('trace'),
    minMargin: 0.25,
  },
  workerStart: 1,
};

export function sampleIdentity(): InstanceIdentity {
  const keys = newInstanceKeys();
  return { instanceId: deriveInstanceId(keys.spki), bootId: 'ab'.repeat(16), keys };
}

export function sampleFacts(changes: Partial<EvidenceFacts> = {}): EvidenceFacts {
  return {
    identity: sampleIdentity(),
    chain: newEvidenceChain(),
    request: freezeRequest(requestBytes, requestBody, { nowMs: 1_790_000_000_500, nonce: 'n-1' }),
    frozen: frozenFacts,
    finishReason: 'stop',
    model: { id: 'tiny', blob_sha256: digest('blob'), size: 123, shards: [], gguf_header_sha256: null },
    server: {
      version: '0.1.0',
      server_source_sha256: digest('server'),
      node_version: 'v20.20.2',
      platform: 'linux-x64',
    },
    backend: {
      sha256: digest('backend'),
      files: [
        { name: 'llama-addon.node', sha256: digest('addon'), inode: 1 },
        { name: 'libggml.so', sha256: digest('ggml'), inode: 2 },
        { name: 'libunused.so', sha256: digest('unused'), inode: 3 },
      ],
      llamaRelease: 'v0.5.0',
      buildMetadataSha256: digest('metadata'),
    },
    response: {
      model: 'tiny',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hallo "Welt"\n€' }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 17, completion_tokens: 4, total_tokens: 21 },
    },
    nowMs: 1_790_000_001_000,
    ...changes,
  };
}

/** The response as a client saves it. */
export function sampleResponse(facts: EvidenceFacts = sampleFacts()) {
  const { member, payloadSha256 } = buildEvidence(facts);
  const body = { id: 'chatcmpl-svc-1790000001', object: 'chat.completion', created: 1_790_000_001 };
  return { payloadSha256, body: { ...body, ...facts.response, evidence: member } };
}

/** The predicate of a record of that run. */
export function samplePredicate(): Predicate {
  const { payload } = sampleResponse().body.evidence;
  return (JSON.parse(Buffer.from(payload, 'base64').toString()) as Statement).predicate;
}
