/** Records of made-up vectors: what a replay is compared with, and what a verifier of another kind makes of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  frozenFacts,
  sampleFacts,
  sampleIdentity,
  sampleResponse,
} from '../../../test/support/records/sample-record.ts';
import type { VectorFacts } from '../../contract/frozen.ts';
import { fromBase64, toBase64 } from '../../lib/base/vector.ts';
import { isOfVectors, parseAnyStatement } from './any-statement.ts';
import { newEvidenceChain } from './chain.ts';
import { checkBindings, openRecord, parseStatement } from './verify.ts';
import { checkVectorBindings, checkVectorReplay, type ReplayedVectors } from './vector-checks.ts';
import { answeredVectors, buildVectorEvidence, statedVectorExec, statedVectors } from './vector-record.ts';
import type { VectorStatement } from './vector-statement.ts';

const identity = sampleIdentity();
const { model, server, backend } = sampleFacts({ identity });

const facts: VectorFacts = {
  exec: {
    numCtx: 64,
    threads: 2,
    contexts: [{ longest: 63, flashAttention: false }],
    pooling: 'mean',
    gpuLayers: 0,
    useMmap: true,
    openMp: false,
    repack: true,
  },
  host: frozenFacts.host,
};
const vectors = [Float32Array.of(0.6, 0.8), Float32Array.of(1, 0)].map((vector, at) => ({
  vector,
  tokens: 3 + at,
  truncated: at === 1,
  tokensSha256: String(at).repeat(64),
}));
const recorded = { facts, vectors, modelWidth: 2 };
const response = {
  object: 'list',
  model: model.id,
  data: vectors.map(({ vector, truncated }, index) => ({
    object: 'embedding',
    index,
    embedding: [...vector],
    ...(truncated && { truncated }),
  })),
  usage: { prompt_tokens: 7, total_tokens: 7 },
};
const request = { rawSha256: 'a'.repeat(64), canonicalSha256: 'b'.repeat(64), nonce: null };
const { member } = buildVectorEvidence(
  { ...recorded, request, model, backend, response },
  { identity, server, chain: newEvidenceChain(), nowMs: 0 },
);
const record = openRecord({ ...response, evidence: member });
const statement = parseAnyStatement(record.payload) as VectorStatement;

const replay = (changes: Partial<ReplayedVectors> = {}) =>
  checkVectorReplay(statement, {
    model,
    backend: statement.predicate.backend,
    exec: statedVectorExec(facts),
    vectors: statedVectors(recorded),
    bits: vectors.map(({ vector }) => vector),
    serverSha256: server.server_source_sha256,
    ...changes,
  });
const outcomes = (changes: Partial<ReplayedVectors>) =>
  replay(changes).map(({ name, outcome }) => `${name} ${outcome}`);

const nudged = (vector: Float32Array): Float32Array => {
  const bits = new Uint32Array(Float32Array.from(vector).buffer);
  bits[0] = (bits[0] ?? 0) + 1;
  return new Float32Array(bits.buffer);
};

describe('a replay of vectors', () => {
  it('passes with the same bits, with any number of threads', () => {
    expect(replay().map(({ outcome }) => outcome)).toEqual(['passed', 'passed', 'passed']);
    expect(outcomes({ exec: { ...statedVectorExec(facts), n_threads: 9 } })).toContain('vectors passed');
  });

  it('fails where one bit differs, an input or the form', () => {
    const [first, second] = vectors.map(({ vector }) => vector);
    expect(outcomes({ bits: [nudged(first ?? Float32Array.of()), second ?? Float32Array.of()] })).toEqual([
      'inputs passed',
      'form passed',
      'vectors failed',
    ]);
    const form = statedVectors(recorded);
    const [input] = form.inputs;
    expect(outcomes({ vectors: { ...form, inputs: [input, input] as typeof form.inputs } })).toContain(
      'inputs failed',
    );
    expect(outcomes({ vectors: { ...form, pooling: 'cls' } })).toContain('form failed');
  });

  it.each([
    ['the model', { model: { blob_sha256: '0'.repeat(64), shards: [] } }],
    ['the library', { backend: { ...statement.predicate.backend, backend_sha256: '0'.repeat(64) } }],
    ['the processor', { backend: { ...statement.predicate.backend, cpu_features: 'none' } }],
    ['the window', { exec: { ...statement.predicate.exec, n_ctx: 63 } }],
    ['attention', { exec: { ...statement.predicate.exec, contexts: [{ longest: 63, flash_attn: true }] } }],
    ['how weights lie', { exec: { ...statement.predicate.exec, repack: false } }],
  ])('is not comparable on other terms: %s', (_, changes) => {
    expect(outcomes(changes)).toEqual(['replay incomparable']);
  });
});

describe('records of both kinds', () => {
  it('are told apart by their type, and neither passes for the other', () => {
    const answer = sampleResponse(sampleFacts({ identity })).body;
    const opened = openRecord(answer);
    const other = parseAnyStatement(opened.payload);
    expect([isOfVectors(statement), isOfVectors(other)]).toEqual([true, false]);
    expect(() => parseStatement(record.payload)).toThrow('frozen-v1');
    const failed = (findings: ReturnType<typeof checkVectorBindings>) =>
      findings.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name);
    expect(failed(checkVectorBindings(record, statement, { request: null }))).toEqual([]);
    expect(failed(checkVectorBindings(opened, statement, { request: null }))).toContain('response');
    const claims = { record, statement: parseStatement(opened.payload), request: null };
    expect(failed(checkBindings(claims))).toContain('response');
  });

  it('name data beside an answer in words as unsigned', () => {
    const { body } = sampleResponse(sampleFacts({ identity }));
    expect(openRecord({ ...body, data: response.data }).unsigned).toContain('data');
  });
});

describe('vectors of an answer', () => {
  const vector = fc.float32Array({ maxLength: 9, noNaN: true, noDefaultInfinity: true });

  it('are the same bits as numbers and as base64', () => {
    fc.assert(
      fc.property(vector, (numbers) => {
        const some = numbers.map((value) => value + 0);
        const sent = JSON.parse(
          JSON.stringify([{ embedding: [...some] }, { embedding: toBase64(some) }]),
        ) as unknown;
        expect(answeredVectors(sent)).toEqual([some, some]);
      }),
    );
  });

  it.each([
    ['no list', 'x'],
    ['no item', [null]],
    ['no number', [{ embedding: ['1'] }]],
    ['a number of more bits', [{ embedding: [0.1] }]],
    ['base64 in another form', [{ embedding: 'AAAAAA' }]],
    ['surplus bits', [{ embedding: 'AAAAAB==' }]],
    ['half a number', [{ embedding: 'AAA=' }]],
    ['no base64', [{ embedding: '????' }]],
  ])('are none where there is %s', (_, data) => {
    expect(answeredVectors(data)).toBeNull();
  });

  it('come from base64 in its one form only', () => {
    expect(fromBase64('AACAPw==')).toEqual(Float32Array.of(1));
    expect(fromBase64('')).toEqual(new Float32Array());
  });
});
