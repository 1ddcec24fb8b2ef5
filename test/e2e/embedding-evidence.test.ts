/** Records of vectors: whole batches, texts and token ids, widths and cuts, verified and replayed, and what makes them fail. */
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POOLING_TYPE } from '../../packages/gguf/src/format/format.ts';
import type { VectorStatement } from '../../src/trust/evidence/vector-statement.ts';
import { u32 } from '../../tools/gguf/metadata.ts';
import { writeGguf } from '../../tools/gguf/writer.ts';
import { tinyChatContent } from '../../tools/models/tiny-chat.ts';
import { writeTinyEmbed } from '../../tools/models/tiny-embed.ts';
import { EvidenceService, type FrozenReply, sha256 } from '../support/records/evidence-service.ts';

const ROUTE = '/v1/embeddings';

let service: EvidenceService;
beforeAll(async () => {
  service = await EvidenceService.create(
    {
      encoder: (file) => writeTinyEmbed(file, { contextLength: 256, layers: 2 }),
      other: (file) => writeTinyEmbed(file, { contextLength: 256, layers: 2, seed: 9 }),
      narrow: (file) => writeTinyEmbed(file, { width: 384 }),
      decoder: (file) => {
        const { metadata, tensors } = tinyChatContent({ contextLength: 512 });
        const pooled = { ...metadata, 'llama.pooling_type': u32(POOLING_TYPE.last) };
        return writeGguf(file, { metadata: pooled, tensors });
      },
      ranker: (file) => writeTinyEmbed(file, { ranks: true }),
      together: (file) => writeTinyEmbed(file, { contextLength: 256, seed: 4 }),
    },
    { env: { SVC_NUM_THREADS: '2', SVC_ALLOW_HASH_EMBEDDINGS: '1' } },
  );
  await service.start();
  expect(await service.cli(['set', 'together', 'exact_vectors=off'])).toMatchObject({ code: 0 });
});
afterAll(() => service.remove());

const TEXTS = ['the sea is calm', 'a small boat waits', 'the sea is calm', `gulls ${'cry '.repeat(90)}`];
const asked = (fields: object = {}): object => ({ model: 'encoder', input: TEXTS, ...fields });

const statement = ({ body }: FrozenReply): VectorStatement =>
  JSON.parse(Buffer.from(body.evidence.payload, 'base64').toString()) as VectorStatement;

const freeze = async (request: object, headers = {}): Promise<FrozenReply> => {
  const reply = await service.freeze(request, headers, ROUTE);
  expect(reply.status, reply.bytes.toString()).toBe(200);
  return reply;
};

let saved = 0;
async function verify(answer: unknown, request: object, ...flags: string[]) {
  saved += 1;
  const args = [
    await service.save(`answer-${saved}.json`, answer),
    '--request',
    await service.save(`answer-${saved}.request.json`, request),
  ];
  const { code, stdout } = await service.cli(['evidence', 'verify', ...args, ...flags, '--json']);
  return { code, verdict: JSON.parse(stdout) as Verdict };
}

interface Verdict {
  readonly level: string | null;
  readonly findings: readonly { readonly name: string; readonly outcome: string; readonly detail: string }[];
}
const failedIn = ({ verdict }: { readonly verdict: Verdict }): string[] =>
  verdict.findings.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name);

const bitsOf = (embedding: readonly number[]): Buffer => Buffer.from(Float32Array.from(embedding).buffer);

describe('a record of vectors', () => {
  it.each([
    ['several texts, one of them twice', {}],
    ['one text', { input: 'forever' }],
    ['numbers in base64', { encoding_format: 'base64' }],
    ['token ids', { input: Array.from({ length: 20 }, (_, at) => 5 + at) }],
    ['a text that is cut', { input: ['the time '.repeat(400), 'short'], truncate: true }],
    ['a narrower model, with zeros behind', { model: 'narrow' }],
    ['a model in its own width', { model: 'narrow', dimensions: 384 }],
    ['a decoder that pools its last token', { model: 'decoder', dimensions: null }],
  ])('verifies and replays with the same bits: %s', async (_, fields) => {
    // Ids of a vocabulary that nobody proved them to be of.
    const owns = {
      ...fields,
      ...('input' in fields && typeof fields.input[0] === 'number' && { model: 'own' }),
    };
    if ('model' in owns && owns.model === 'own') await importOwn();
    const request = asked(owns);
    const reply = await freeze(request);
    expect(reply.headers.get('x-svc-evidence-mode')).toBe('frozen-v1');
    expect(reply.headers.get('x-svc-embed-backend')).toBe('native');
    const signed = statement(reply);
    expect(reply.headers.get('x-svc-evidence-digest')).toBe(
      `sha256:${sha256(Buffer.from(reply.body.evidence.payload, 'base64'))}`,
    );
    const { inputs } = signed.predicate.vectors;
    expect(inputs).toHaveLength(reply.body.data.length);
    expect(inputs.map(({ truncated }) => truncated)).toEqual(
      reply.body.data.map(({ truncated = false }: { truncated?: boolean }) => truncated),
    );
    const { code, verdict } = await verify(reply.bytes, request, '--replay');
    expect([code, verdict.level], JSON.stringify(verdict)).toEqual([0, 'L3']);
  });

  it('names the bits of all vectors, and the tokens of each input', async () => {
    const reply = await freeze(asked());
    const { subject, predicate } = statement(reply);
    const bits = Buffer.concat(
      reply.body.data.map(({ embedding }: { embedding: number[] }) => bitsOf(embedding)),
    );
    expect(subject[1]).toEqual({ name: 'vectors', digest: { sha256: sha256(bits) } });
    const [first, second, again] = predicate.vectors.inputs;
    expect(again).toEqual(first);
    expect(second?.tokens_sha256).not.toBe(first?.tokens_sha256);
    expect(predicate.vectors).toMatchObject({ width: 768, model_width: 768, pooling: 'mean' });
    expect(predicate.model.blob_sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(predicate)).not.toContain('calm');
  });

  it('has the same bits alone, in company, in the other encoding and after a kill', async () => {
    const alone = await Promise.all(TEXTS.map((input) => freeze(asked({ input }))));
    const company = Promise.all(
      Array.from({ length: 4 }, (_, at) =>
        service.post(
          asked({ input: [`other ${at}`, 'words '.repeat(9 * at)].filter((text) => text !== '') }),
          {},
          ROUTE,
        ),
      ),
    );
    const [together] = await Promise.all([freeze(asked()), company]);
    await service.killWorkers();
    const restarted = await freeze(asked());
    const base64 = await freeze(asked({ encoding_format: 'base64' }));
    const bits = ({ body }: FrozenReply): string[] =>
      body.data.map(({ embedding }: { embedding: number[] }) => sha256(bitsOf(embedding)));
    expect(bits(together)).toEqual(alone.flatMap(bits));
    const subjects = [together, restarted, base64].map((reply) => JSON.stringify(statement(reply).subject));
    expect(new Set(subjects).size).toBe(1);
  });

  it('fails where a vector, its place, a count, the request or the record was changed', async () => {
    const request = asked();
    const { body } = await freeze(request);
    const [first, second, ...rest] = body.data;
    const changed = { ...first, embedding: [first.embedding[0] * 1.0000001, ...first.embedding.slice(1)] };
    // Not the number of 32 bits that was signed, though it rounds to it.
    const blurred = { ...first, embedding: [first.embedding[0] + 1e-12, ...first.embedding.slice(1)] };
    for (const data of [
      [changed, second, ...rest],
      [blurred, second, ...rest],
      [second, first, ...rest],
      rest,
      'x',
    ])
      expect(failedIn(await verify({ ...body, data }, request))).toContain('response');
    expect(failedIn(await verify({ ...body, model: 'other' }, request))).toEqual(['response', 'statement']);
    expect(failedIn(await verify({ ...body, usage: { ...body.usage, prompt_tokens: 1 } }, request))).toEqual([
      'response',
      'statement',
    ]);
    expect(failedIn(await verify(body, asked({ input: ['other'] })))).toEqual(['request']);
    const { data, ...words } = body;
    expect(failedIn(await verify({ ...words, choices: data }, request))).toContain('response');
    const payload = Buffer.from(body.evidence.payload, 'base64');
    const forged = payload.toString().replace('"width":768', '"width":767');
    const evidence = { ...body.evidence, payload: Buffer.from(forged).toString('base64') };
    expect(failedIn(await verify({ ...body, evidence }, request))).toEqual(['signature']);
  });

  it('is named unsigned in what nothing binds, and holds as a bare record', async () => {
    const request = asked();
    const { body } = await freeze(request, { 'x-svc-evidence-nonce': 'n-1' });
    const evidence = { ...body.evidence, output_tokens: 'AAAA' };
    const noted = await verify({ ...body, evidence, more: 1 }, request, '--nonce', 'n-1');
    expect(noted.code).toBe(0);
    expect(noted.verdict.findings.at(-1)?.detail).toContain('object, more, evidence.output_tokens');
    expect((await verify(body.evidence, request)).code).toBe(0);
    expect(failedIn(await verify(body, request, '--nonce', 'n-2'))).toEqual(['nonce']);
  });

  it('does not pass for one of another model or another tuple', async () => {
    const request = asked();
    const { body } = await freeze(request);
    const file = path.join(service.folder, 'other.gguf');
    const other = await verify(body, request, '--replay', '--model', file);
    expect(other.code).toBe(2);
    const cheap = await verify(body, request, '--cheap');
    expect([cheap.code, JSON.stringify(cheap.verdict)]).toEqual([2, expect.stringContaining('--replay')]);
    expect((await verify(body, request, '--replay', '--threads', '1')).code).toBe(0);
  });

  it('is replayed in a folder, and its links are checked', async () => {
    await mkdir(path.join(service.folder, 'records'));
    for (const [name, request] of [
      ['one', asked()],
      ['two', asked({ input: 'forever' })],
      ['three', asked({ input: 'never' })],
    ] as const) {
      const { body } = await freeze(request);
      if (name === 'three') body.data[0].embedding[0] = 0;
      await service.save(`records/${name}.json`, body);
      await service.save(`records/${name}.request.json`, request);
    }
    const linked = await service.cli(['evidence', 'verify', 'records/one.json', 'records/two.json']);
    expect([linked.code, linked.stdout]).toEqual([0, expect.stringContaining('linked')]);
    const replayed = await service.cli(['evidence', 'replay', 'records']);
    expect([replayed.code, replayed.stdout]).toEqual([
      1,
      expect.stringContaining('2 exact, 0 with the same tokens, 0 with other tokens, 1 altered'),
    ]);
    const shown = await service.cli(['evidence', 'show', 'records/one.json']);
    expect(shown.stdout).toContain('urn:svc:evidence:vectors-v1');
  });
});

describe('a request for a record of vectors', () => {
  it('asks in a header or in its body, and gets none otherwise', async () => {
    expect((await service.post(asked(), {}, ROUTE)).body.evidence).toBeUndefined();
    const inBody = await service.post(asked({ svc_evidence: 'frozen-v1' }), {}, ROUTE);
    expect(statement(inBody).predicate.request.route).toBe(ROUTE);
    const unknown = await service.post(asked(), { 'x-svc-evidence-mode': 'v9' }, ROUTE);
    expect(unknown.status).toBe(400);
  });

  it.each([
    ['vectors that depend on company', { model: 'together' }, 'exact_vectors=auto'],
    ['the fallback', { model: 'feature-hash-768' }, 'cannot repeat vectors bit for bit'],
    ['a model that ranks', { model: 'ranker' }, 'rerank'],
    ['a text that is too long', { input: 'the time '.repeat(400) }, 'truncate'],
  ])('is refused with the reason: %s', async (_, fields, reason) => {
    const { status, bytes } = await service.freeze(asked(fields), {}, ROUTE);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(bytes.toString()).toContain(reason);
  });

  it('is refused where the file of the model was changed', async () => {
    await rename(path.join(service.folder, 'narrow.gguf'), path.join(service.folder, 'away.gguf'));
    await writeTinyEmbed(path.join(service.folder, 'narrow.gguf'), { width: 384, seed: 77 });
    const { status, bytes } = await service.freeze(asked({ model: 'narrow' }), {}, ROUTE);
    expect([status >= 400, bytes.toString()]).toEqual([true, expect.stringContaining('narrow')]);
  });
});

let ownIsThere = false;
/** The encoder, whose user says that all ids are of its vocabulary. */
async function importOwn(): Promise<void> {
  if (ownIsThere) return;
  ownIsThere = true;
  const file = path.join(service.folder, 'own.gguf');
  await writeTinyEmbed(file, { contextLength: 256, layers: 2, seed: 5 });
  expect(await service.cli(['import', file, '--id', 'own'])).toMatchObject({ code: 0 });
  expect(await service.cli(['set', 'own', 'token_ids=own'])).toMatchObject({ code: 0 });
}
