/** hearth evidence verify over several files, without an engine: what each file is told, and nothing of the others. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { verifyFiles } from './verify-record.ts';
import { newEvidenceChain } from '../../../trust/evidence/chain.ts';
import type { EvidenceFacts } from '../../../trust/evidence/record.ts';
import { seal } from '../../../trust/identity/dsse.ts';
import { loadIdentity, newInstanceKeys } from '../../../trust/identity/instance.ts';
import { replayFolder } from './replay-folder.ts';
import { temporaryFolder } from '../../../../test/support/temp-home.ts';
import {
  requestBody,
  requestBytes,
  sampleFacts,
  sampleIdentity,
  sampleResponse,
} from '../../../../test/support/records/sample-record.ts';

const identity = sampleIdentity();
let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  await writeFile(join(folder, 'pub.pem'), identity.keys.publicKeyPem);
});

async function save(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, Buffer.isBuffer(content) ? content : JSON.stringify(content));
  return path;
}

const verify = (files: readonly string[], request?: string) =>
  verifyFiles({ env: {}, home: folder, numThreads: null, note: () => {} }, files, {
    pubkey: join(folder, 'pub.pem'),
    epsilon: 0.5,
    ...(request === undefined ? {} : { request }),
  });

describe('records of several boots', () => {
  const boot = (bootId: string) => {
    const facts = { identity: { ...identity, bootId }, chain: newEvidenceChain() };
    return (changes: Partial<EvidenceFacts> = {}) =>
      sampleResponse(sampleFacts({ ...facts, ...changes })).body;
  };

  it('are told the links of their own boot only', async () => {
    const first = 'ab'.repeat(16);
    const second = boot('cd'.repeat(16));
    const files = [
      await save('one.json', boot(first)()),
      // Another first record of the same boot.
      await save('rival.json', boot(first)({ nowMs: 1_790_000_009_000 })),
      await save('two.json', second()),
      await save('three.json', second()),
    ];
    const verdicts = await verify(files);
    expect(verdicts.map(({ exitCode }) => exitCode)).toEqual([1, 1, 0, 0]);
    const chains = verdicts.map(({ findings }) => findings.filter(({ name }) => name === 'chain'));
    expect(chains[0]).toMatchObject([{ outcome: 'failed' }]);
    expect(chains[2]).toMatchObject([{ outcome: 'passed', detail: expect.stringContaining('cdcdcdcd') }]);
    expect(chains[3]).toEqual(chains[2]);
  });
});

describe('a file without a canonical form', () => {
  const body = sampleResponse(sampleFacts({ identity })).body;

  it.each([
    ['usage is missing', { ...body, usage: undefined }],
    ['choices are missing', { ...body, choices: undefined }],
    ['usage holds 2^53', { ...body, usage: { ...(body.usage as object), total_tokens: 2 ** 53 } }],
  ])('is a mismatch where %s', async (_, altered) => {
    const [verdict] = await verify([await save('altered.json', altered)]);
    expect(verdict).toMatchObject({ exitCode: 1, level: null });
  });

  it('is a mismatch where the request holds 2^53', async () => {
    const request = await save('request.json', { ...requestBody, max_tokens: 2 ** 53 });
    const [verdict] = await verify([await save('response.json', body)], request);
    expect(verdict?.exitCode).toBe(1);
    const sent = await save('request.json', requestBytes);
    expect((await verify([await save('response.json', body)], sent))[0]).toMatchObject({
      exitCode: 0,
      level: 'L1',
    });
  });
});

describe('a record of another home', () => {
  const facts = sampleFacts({ identity });
  const { body } = sampleResponse(facts);
  const machineOf = (home: string) => ({ env: {}, home, numThreads: null, note: () => {} });
  const here = (file: string) => verifyFiles(machineOf(folder), [file], { epsilon: 0.5 });

  it('cannot be judged by the keys here, in either verb', async () => {
    await loadIdentity({ home: folder });
    const file = await save('foreign.json', body);
    const [verdict] = await here(file);
    expect(verdict).toMatchObject({ exitCode: 2, level: null });
    expect(verdict?.findings).toMatchObject([
      { outcome: 'incomparable', detail: expect.stringContaining('--pubkey FILE') },
    ]);
    expect(await replayFolder(machineOf(folder), [file], {})).toMatchObject([
      { outcome: 'not_comparable', detail: expect.stringContaining('--pubkey FILE') },
    ]);
  });

  it('is judged by a key that was given for it', async () => {
    await loadIdentity({ home: folder });
    const file = await save('foreign.json', body);
    expect((await verify([file]))[0]).toMatchObject({ exitCode: 0 });
    await writeFile(join(folder, 'pub.pem'), newInstanceKeys().publicKeyPem);
    expect((await verify([file]))[0]).toMatchObject({ exitCode: 1, level: null });
    const pubkey = join(folder, 'pub.pem');
    expect(await replayFolder(machineOf(folder), [file], { pubkey })).toMatchObject([
      { outcome: 'mismatch' },
    ]);
  });

  it('is what a record of this home does not become by another keyid or another signature', async () => {
    const { keys } = await loadIdentity({ home: folder });
    const own = sampleResponse(sampleFacts({ identity: { ...identity, keys } })).body;
    const [signature = { keyid: '', sig: '' }] = own.evidence.signatures;
    const unsigned = { ...signature, sig: Buffer.alloc(64).toString('base64') };
    for (const other of [{ ...signature, keyid: '0'.repeat(64) }, unsigned]) {
      const evidence = { ...own.evidence, signatures: [other] };
      const file = await save('own.json', { ...own, evidence });
      expect((await here(file))[0]).toMatchObject({ exitCode: 1, level: null });
    }
  });
});

describe('a record in the name of this home', () => {
  it('is a mismatch under a key that this home never had', async () => {
    const { instanceId } = await loadIdentity({ home: folder });
    const forged = { ...identity, keys: newInstanceKeys(), instanceId };
    const file = await save('forged.json', sampleResponse(sampleFacts({ identity: forged })).body);
    const machine = { env: {}, home: folder, numThreads: null, note: () => {} };
    expect(await verifyFiles(machine, [file], { epsilon: 0.5 })).toMatchObject([
      { exitCode: 1, level: null, findings: [{ level: 'L0', outcome: 'failed' }] },
    ]);
    expect(await replayFolder(machine, [file], {})).toMatchObject([{ outcome: 'mismatch' }]);
  });
});

describe('the model of a record', () => {
  it('is offered once the record holds, and where the model is needed', async () => {
    const { body } = sampleResponse(sampleFacts({ identity }));
    const offered: string[] = [];
    const machine = {
      env: {},
      home: folder,
      numThreads: null,
      offerModel: async (id: string) => void offered.push(id),
      note: () => {},
    };
    const flags = { pubkey: join(folder, 'pub.pem'), epsilon: 0.5 };
    const good = await save('good.json', body);
    const altered = await save('altered.json', { ...body, model: 'other' });
    await verifyFiles(machine, [good], flags);
    await verifyFiles(machine, [altered], { ...flags, artefacts: true });
    expect(offered).toEqual([]);
    await verifyFiles(machine, [good], { ...flags, artefacts: true });
    expect(offered).toEqual([body.model]);
  });
});

describe('a file that cannot be used', () => {
  const { body } = sampleResponse(sampleFacts({ identity }));
  const failure = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

  it.each(['request', 'pubkey'])('is named where there is none: the %s', async (missing) => {
    const path = join(folder, 'none.json');
    const record = await save('answer.json', body);
    if (missing === 'pubkey') {
      const flags = { pubkey: path, epsilon: 0.5 };
      const verified = verifyFiles(
        { env: {}, home: folder, numThreads: null, note: () => {} },
        [record],
        flags,
      );
      expect(await failure(verified)).toMatchObject({ code: 'file_not_found', detail: { path } });
      return;
    }
    const verified = verify([record], path);
    expect(await failure(verified)).toMatchObject({ code: 'file_not_found', detail: { path } });
  });

  it('has a verdict of its own, and the others are judged', async () => {
    const { keys } = identity;
    const nonsense = seal(keys, body.evidence.payloadType, Buffer.from('{}'));
    const verdicts = await verify([
      await save('bad.json', { object: 'chat.completion' }),
      join(folder, 'none.json'),
      await save('nonsense.json', nonsense),
      await save('altered.json', { ...body, model: 'other' }),
      await save('good.json', body),
    ]);
    expect(verdicts.map(({ exitCode }) => exitCode)).toEqual([3, 4, 3, 1, 0]);
    expect(verdicts.slice(0, 2)).toMatchObject([
      { level: null, payloadSha256: null, findings: [{ detail: expect.stringContaining('bad.json') }] },
      { level: null, payloadSha256: null, findings: [{ detail: 'there is no such file' }] },
    ]);
  });
});

describe('the nonce', () => {
  const signed = (nonce: string | null) => {
    const { request } = sampleFacts({ identity });
    return save('nonce.json', sampleResponse(sampleFacts({ identity, request: { ...request, nonce } })).body);
  };

  it.each([
    ['the one that was sent', 'n-1', 0],
    ['another one', 'n-2', 1],
    ['none', null, 1],
  ])('is judged when it is given: %s', async (_, nonce, exitCode) => {
    const [verdict] = await verifyFiles(
      { env: {}, home: folder, numThreads: null, note: () => {} },
      [await signed(nonce)],
      { pubkey: join(folder, 'pub.pem'), epsilon: 0.5, nonce: 'n-1' },
    );
    expect(verdict?.exitCode).toBe(exitCode);
  });
});
