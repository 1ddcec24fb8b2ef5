/** The check of docs/proof.md: Python and OpenSSL accept a record and refuse every alteration, without this code. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'hearth-python-'));
    const page = await readFile(new URL('../../../docs/proof.md', import.meta.url), 'utf8');
    const script = /<!-- third check -->\n```python\n([\s\S]*?)```/.exec(page)?.[1];
    if (script === undefined) throw new Error('docs/proof.md has lost its check in Python');
    expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
    await writeFile(path.join(folder, 'verify.py'), script);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const check = async (
    response: unknown,
    request: Buffer = requestBytes,
    pem: string = facts.identity.keys.publicKeyPem,
  ) => {
    await writeFile(path.join(folder, 'response.json'), JSON.stringify(response));
    await writeFile(path.join(folder, 'request.json'), request);
    await writeFile(path.join(folder, 'pub.pem'), pem);
    return spawnSync('python3', files, { cwd: folder, encoding: 'utf8' });
  };

  it('accepts what was signed, and names the model', async () => {
    const { status, stdout } = await check(body);
    expect(stdout).toContain('ok   signature\nok   request\nok   response\nok   output tokens\nmodel ');
    expect(status).toBe(0);
  });

  const payload = Buffer.from(`${Buffer.from(evidence.payload, 'base64').toString()} `).toString('base64');
  it.each([
    ['an altered answer', 'response', [{ ...body, model: 'other' }]],
    ['an altered request', 'request', [body, Buffer.from(`${requestBytes.toString()} `)]],
    ['a foreign key', 'signature', [body, requestBytes, newInstanceKeys().publicKeyPem]],
    ['an altered statement', 'signature', [{ ...body, evidence: { ...evidence, payload } }]],
    ['other tokens', 'output tokens', [{ ...body, evidence: { ...evidence, output_tokens: 'AAAA' } }]],
  ] as const)('refuses %s', async (_, failed, changes) => {
    const [response, request, pem] = changes;
    const { status, stdout } = await check(response, request, pem);
    expect(stdout).toContain(`FAIL ${failed}`);
    expect(status).toBe(1);
  });
});
