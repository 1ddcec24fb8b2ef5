/** The check of docs/proof.md: Python and OpenSSL accept a record and refuse every alteration, without this code. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seal } from '../identity/dsse.ts';
import { newInstanceKeys } from '../identity/instance.ts';
import { leftOut } from '../../../test/support/left-out.ts';
import { requestBytes, sampleFacts, sampleResponse } from '../../../test/support/records/sample-record.ts';

const runs = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
const isHere = runs('python3') && spawnSync('openssl', ['version']).status === 0;

describe.runIf(isHere)(`a check in Python${leftOut(isHere, 'there is no python3 or openssl here')}`, () => {
  const facts = sampleFacts();
  const { body } = sampleResponse(facts);
  const { evidence } = body;
  const files = ['verify.py', 'response.json', 'request.json', 'pub.pem'];
  let folder: string;
  let page: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-python-'));
    page = await readFile(new URL('../../../docs/proof.md', import.meta.url), 'utf8');
    const script = /<!-- third check -->\n```python\n([\s\S]*?)```/.exec(page)?.[1];
    if (script === undefined) throw new Error('docs/proof.md has lost its check in Python');
    expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(90);
    await writeFile(path.join(folder, 'verify.py'), script);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const check = async (
    response: unknown,
    request: Buffer = requestBytes,
    pem: string = facts.identity.keys.publicKeyPem,
  ) => {
    await writeFile(
      path.join(folder, 'response.json'),
      typeof response === 'string' ? response : JSON.stringify(response),
    );
    await writeFile(path.join(folder, 'request.json'), request);
    await writeFile(path.join(folder, 'pub.pem'), pem);
    return spawnSync('python3', files, { cwd: folder, encoding: 'utf8' });
  };

  it('accepts what was signed, and names the model', async () => {
    const { status, stdout } = await check(body);
    expect(stdout).toContain(
      'ok   signature\nok   key\nok   a record of words\nok   request\nok   response\nok   output tokens\nmodel ',
    );
    expect(status).toBe(0);
    const { output_tokens: _, ...withoutTokens } = evidence;
    expect((await check({ ...body, evidence: withoutTokens })).status).toBe(0);
  });

  it('takes the last event of a stream with the documented command', async () => {
    const { model, choices, usage } = body;
    const event = { choices: [], evidence, svc_answer: { model, choices, usage } };
    const stream = `data: {"choices":[]}\n\ndata: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`;
    await writeFile(path.join(folder, 'stream.txt'), stream);
    const command = /```sh\n(sed [^\n]*)\n```/.exec(page)?.[1] ?? 'false';
    expect(spawnSync('bash', ['-c', command], { cwd: folder }).status).toBe(0);
    const response = await readFile(path.join(folder, 'response.json'), 'utf8');
    expect((await check(response)).status).toBe(0);
  });

  const text = JSON.stringify(body);
  it.each([
    ['a key that comes twice', text.replace('"choices":', '"choices":[],"choices":'), 'a key comes twice'],
    ['no record', JSON.stringify({ ...body, evidence: undefined }), "KeyError: 'evidence'"],
    ['no answer', JSON.stringify({ evidence }), "KeyError: 'choices'"],
    [
      'a record without a signature',
      JSON.stringify({ ...body, evidence: { ...evidence, signatures: [] } }),
      'ValueError',
    ],
    ['a stream', `data: ${text}`, 'JSONDecodeError'],
    ['another value', '[]', 'TypeError'],
  ])('says why it cannot check %s', async (_, response, reason) => {
    expect(response).not.toBe(text);
    const { status, stderr } = await check(response);
    expect([status, stderr.trim().split('\n')]).toEqual([1, [expect.stringContaining(reason)]]);
  });

  it('refuses a record of vectors', async () => {
    const statement = JSON.parse(Buffer.from(evidence.payload, 'base64').toString()) as object;
    const ofVectors = { ...statement, predicateType: 'urn:svc:evidence:vectors-v1' };
    const sealed = seal(facts.identity.keys, evidence.payloadType, Buffer.from(JSON.stringify(ofVectors)));
    const { status, stdout } = await check({ model: 'm', data: [], evidence: sealed });
    expect([status, stdout]).toEqual([1, expect.stringContaining('FAIL a record of words')]);
  });

  const payload = Buffer.from(`${Buffer.from(evidence.payload, 'base64').toString()} `).toString('base64');
  it.each([
    ['an altered answer', 'response', [{ ...body, model: 'other' }]],
    ['an altered request', 'request', [body, Buffer.from(`${requestBytes.toString()} `)]],
    ['a foreign key', 'signature', [body, requestBytes, newInstanceKeys().publicKeyPem]],
    ['an altered statement', 'signature', [{ ...body, evidence: { ...evidence, payload } }]],
    [
      'a forged name of the key',
      'key',
      [
        {
          ...body,
          evidence: { ...evidence, signatures: [{ ...evidence.signatures[0], keyid: 'ab'.repeat(32) }] },
        },
      ],
    ],
    ['other tokens', 'output tokens', [{ ...body, evidence: { ...evidence, output_tokens: 'AAAA' } }]],
  ] as const)('refuses %s', async (_, failed, changes) => {
    const [response, request, pem] = changes;
    const { status, stdout } = await check(response, request, pem);
    expect(stdout).toContain(`FAIL ${failed}`);
    expect(status).toBe(1);
  });
});
