/** frozen-v1 over the wire: the compiled service, a real model, and the verifier as a user runs it. */
import { execFileSync } from 'node:child_process';
import { open, readdir, readFile, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import OpenAI from 'openai';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentDigest } from '../../src/server/http/handlers/chat.ts';
import { builtSources } from '../support/process/hearth.ts';
import { verifies } from '../contract/requirements.ts';
import { template } from '../support/templates.ts';
import { EvidenceService, outputOf, sha256, statementOf } from '../support/records/evidence-service.ts';

/** Shows the present to the second, as templates that print today's date do to the day. */
const clockTemplate = [
  "{{ strftime_now('%Y-%m-%d %H:%M:%S') }}\n",
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}",
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
].join('');

let service: EvidenceService;
beforeAll(async () => {
  service = await EvidenceService.create({
    tiny: { contextLength: 2048 },
    clock: { contextLength: 1024, chatTemplate: clockTemplate },
    victim: { contextLength: 512 },
    thinker: { contextLength: 512, chatTemplate: template('always-thinking') },
  });
  await service.start();
});
afterAll(() => service.remove());

const request = {
  model: 'tiny',
  messages: [{ role: 'user', content: 'Count on forever, grüße 世界.' }],
  max_tokens: 24,
};

/** The arguments that verify a saved answer. */
async function saved(name: string, body: object, headers: Record<string, string> = {}): Promise<string[]> {
  const { reply, args } = await service.saveFrozen(name, body, headers);
  expect(reply.bytes.toString()).toContain('"evidence"');
  return args;
}

describe('on the wire', () => {
  it('adds one member and three headers, and nothing without the header', async () => {
    const plain = await service.post(request);
    const frozen = await service.freeze(request, { 'x-svc-evidence-nonce': 'n-42' });
    expect(Object.keys(frozen.body).sort()).toEqual([...Object.keys(plain.body), 'evidence'].sort());
    for (const name of ['x-svc-evidence-mode', 'x-svc-evidence-digest', 'content-digest'])
      expect(plain.headers.get(name)).toBeNull();

    const payload = Buffer.from(frozen.body.evidence.payload, 'base64');
    verifies('post-chat.evidence-mode', () =>
      expect(frozen.headers.get('x-svc-evidence-mode')).toBe('frozen-v1'),
    );
    expect(frozen.headers.get('x-svc-evidence-digest')).toBe(`sha256:${sha256(payload)}`);
    expect(frozen.headers.get('content-digest')).toBe(contentDigest(frozen.bytes));
    const { issuer, request: asked, exec } = statementOf(frozen).predicate;
    expect([exec.n_ctx, frozen.headers.get('x-svc-num-ctx')]).toEqual([1024, '1024']);
    expect(plain.headers.get('x-svc-num-ctx')).toBe('2048');
    expect(issuer.instance_id).toBe(frozen.headers.get('x-svc-instance-id'));
    expect(issuer.boot_id).toBe(frozen.headers.get('x-svc-boot-id'));
    expect(asked).toMatchObject({ nonce: 'n-42', raw_body_sha256: sha256(JSON.stringify(request)) });
  });

  it('verifies what the openai package read and wrote', async () => {
    const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none' });
    const body = {
      ...request,
      messages: [{ role: 'user' as const, content: 'Hi' }],
      svc_evidence: 'frozen-v1',
    };
    const answer = await client.chat.completions.create(body);
    await service.save('package.request.json', body);
    await service.save('package.json', JSON.stringify(answer, null, 2));
    const args = ['evidence', 'verify', 'package.json', '--request', 'package.request.json', '--replay'];
    expect(await service.cli(args)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('verified at L3'),
    });
  });

  it('names the bytes that GET /v1/identity names', async () => {
    const identity = (await (await fetch(`${service.url}/v1/identity`)).json()) as Record<string, unknown>;
    const { server, backend, model } = statementOf(await service.freeze(request)).predicate;
    expect(server.server_source_sha256).toBe(identity['server_source_sha256']);
    expect(backend.backend_sha256).toBe(identity['backend_sha256']);
    const koffi = fileURLToPath(new URL('../../node_modules/koffi/package.json', import.meta.url));
    const { version } = JSON.parse(await readFile(koffi, 'utf8')) as { version: string };
    expect(backend.binding).toMatchObject({ name: 'koffi', version });
    const natives = path.join(path.dirname(koffi), '..', '@koromix');
    const files = (await readdir(natives, { recursive: true })).filter((name) => name.endsWith('koffi.node'));
    const hashes = await Promise.all(
      files.map(async (name) => sha256(await readFile(path.join(natives, name)))),
    );
    expect(hashes).toContain(backend.binding?.sha256);
    expect(model.blob_sha256).toBe(sha256(await readFile(path.join(service.folder, 'tiny.gguf'))));
  });

  it.each(['frozen-v2', 'FROZEN-V1', 'none', 'frozen-v1, frozen-v1'])('refuses the mode %s', async (mode) => {
    const reply = await service.post(request, { 'x-svc-evidence-mode': mode });
    expect(reply.status).toBe(400);
    expect(reply.body.evidence).toBeUndefined();
  });

  it('answers a stream with the mode none', async () => {
    const reply = await service.freeze({ ...request, stream: true });
    expect(reply.status).toBe(200);
    verifies('limits.frozen', () => expect(reply.headers.get('x-svc-evidence-mode')).toBe('none'));
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    expect(reply.bytes.toString()).toMatch(/data: \[DONE\]\n\n$/);
    expect(reply.bytes.toString()).not.toContain('evidence');
  });

  it.each([
    ['duplicate keys', '{"model":"tiny","model":"tiny","messages":[{"role":"user","content":"a"}]}'],
    ['nested duplicate keys', '{"model":"tiny","messages":[{"role":"user","content":"a","role":"user"}]}'],
    ['a lone surrogate', '{"model":"tiny","messages":[{"role":"user","content":"\\ud800"}]}'],
    ['a number too large', '{"model":"tiny","x":1e400,"messages":[{"role":"user","content":"a"}]}'],
    ['2^53', '{"model":"tiny","x":9007199254740992,"messages":[{"role":"user","content":"a"}]}'],
    ['the random seed', '{"model":"tiny","seed":4294967295,"messages":[{"role":"user","content":"a"}]}'],
    ['two answers', '{"model":"tiny","n":2,"messages":[{"role":"user","content":"a"}]}'],
  ])('refuses %s', async (_, body) => {
    const reply = await service.freeze(body);
    expect(reply.status).toBe(400);
    expect(reply.body.evidence).toBeUndefined();
    expect(typeof reply.body.message).toBe('string');
  });

  it('refuses a prompt that does not fit instead of answering without a record', async () => {
    const content = 'word '.repeat(4000);
    const reply = await service.freeze({ ...request, messages: [{ role: 'user', content }] });
    expect(reply.status).toBe(400);
    expect(reply.headers.get('x-svc-evidence-mode')).toBeNull();
  });

  it('proves its identity in the way that docs/identity.md describes', async () => {
    const page = await readFile(new URL('../../docs/identity.md', import.meta.url), 'utf8');
    const script =
      /```sh\n(NONCE=[\s\S]*?)```/.exec(page)?.[1]?.replace('http://127.0.0.1:8740', service.url) ?? '';
    const options = { cwd: service.folder, env: { PATH: process.env['PATH'] } };
    expect(execFileSync('bash', ['-euo', 'pipefail', '-c', script], options).toString()).toContain(
      'Verified',
    );
    const { instance_id } = JSON.parse(await readFile(path.join(service.folder, 'identity.json'), 'utf8'));
    const pem = (await service.cli(['evidence', 'pubkey'])).stdout;
    const derive =
      'openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base32 | tr A-Z a-z | cut -c1-26';
    expect(`svc-${execFileSync('sh', ['-c', derive], { input: pem }).toString().trim()}`).toBe(instance_id);
  });
});

describe('a model file that is changed in place, its mtime restored', () => {
  it('is in no record: not while it is loaded, and not after a restart', async () => {
    const asked = { ...request, model: 'victim' };
    const file = path.join(service.folder, 'victim.gguf');
    const { atime, mtime, size } = await stat(file);
    const before = statementOf(await service.freeze(asked)).predicate.model.blob_sha256;
    expect(before).toBe(sha256(await readFile(file)));

    const handle = await open(file, 'r+');
    await handle.write(Buffer.alloc(4096, 0x3c), 0, 4096, size - 4096);
    await handle.close();
    await utimes(file, atime, mtime);
    const refused = async (): Promise<void> => {
      const reply = await service.freeze(asked);
      expect(reply.status).not.toBe(200);
      expect(reply.body.evidence).toBeUndefined();
      expect(reply.body.code).toBe('model_damaged');
    };
    await refused();
    await service.stop();
    await service.start();
    await refused();
  });
});

describe('a record', () => {
  it('states an option that changed the tokens, and leaves it out otherwise', async () => {
    const drawn = { ...request, temperature: 0.8, seed: 11 };
    const plain = await service.freeze(drawn);
    const without = await service.freeze({ ...drawn, xtc_probability: 1, xtc_threshold: 0.01 });
    expect(outputOf(without)).not.toBe(outputOf(plain));
    const { sampling } = statementOf(without).predicate;
    expect(sampling).toMatchObject({ xtc_probability: 1, xtc_threshold: 0.01 });
    expect(sampling.chain).toEqual(['top_k', 'top_p', 'min_p', 'xtc', 'temperature', 'dist']);
    expect(Object.keys(statementOf(plain).predicate.sampling)).not.toContain('xtc_probability');
  });
});

describe('repeats', () => {
  const repeats = process.env['SVC_LONG_TESTS'] === '1' ? 250 : 6;
  /** A whole ordinary stream beside the frozen runs; true when it ended as complete. */
  const noise = async (n: number): Promise<boolean> => {
    const response = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...request,
        stream: true,
        messages: [{ role: 'user', content: `noise ${n} forever` }],
        temperature: 1,
        max_tokens: 120,
      }),
    });
    return (await response.text()).endsWith('data: [DONE]\n\n');
  };

  it(
    `gives one output in ${4 * repeats} runs: idle, beside eight noisy streams, after a worker was killed, after a restart`,
    async () => {
      const outputs = new Set<string>();
      const runs = async (): Promise<void> => {
        for (let n = 0; n < repeats; n += 1) outputs.add(outputOf(await service.freeze(request)));
      };
      await runs();
      const quiet = new AbortController();
      const streams = Array.from({ length: 8 }, async (_, n) => {
        let answers = 0;
        while (!quiet.signal.aborted) answers += (await noise(n)) ? 1 : 0;
        return answers;
      });
      await runs();
      quiet.abort();
      for (const answers of await Promise.all(streams)) expect(answers).toBeGreaterThan(0);
      const boot = statementOf(await service.freeze(request)).predicate.issuer.boot_id;
      expect(await service.killWorkers()).toBeGreaterThan(0);
      await runs();
      const after = statementOf(await service.freeze(request)).predicate;
      expect(after.issuer.boot_id).toBe(boot);
      expect(after.exec.worker_gen).toBe(2);
      await service.stop();
      await service.start();
      await runs();
      expect(statementOf(await service.freeze(request)).predicate.issuer.boot_id).not.toBe(boot);
      expect([...outputs]).toHaveLength(1);
    },
    30 * 60_000,
  );

  it('chains the records of a boot', async () => {
    const [first, second] = [await service.freeze(request), await service.freeze(request)];
    const [a, b] = [statementOf(first).predicate.issuer, statementOf(second).predicate.issuer];
    expect(b.seq).toBe(a.seq + 1);
    expect(b.prev_evidence_sha256).toBe(sha256(Buffer.from(first.body.evidence.payload, 'base64')));
  });
});

describe('hearth evidence verify', () => {
  it('verifies an answer offline up to the full replay', async () => {
    const verify = await saved('plain', request);
    await service.stop();
    const full = await service.cli([...verify, '--replay', '--cheap', '--json']);
    expect(full.code).toBe(0);
    expect(JSON.parse(full.stdout)).toMatchObject({ verdict: 'verified', level: 'L4', exit_code: 0 });
    expect((await service.cli(verify)).stdout).toContain('verified at L1');
    await service.start();
  });

  it.each([
    ['a sampled answer', { ...request, temperature: 0.9, top_p: 0.8, repeat_penalty: 1.1, seed: 11 }],
    [
      'an answer under XTC',
      { ...request, temperature: 0.8, xtc_probability: 0.5, xtc_threshold: 0.02, seed: 11 },
    ],
    ['a JSON answer', { ...request, response_format: { type: 'json_object' } }],
    [
      'an answer with stop strings and log probabilities',
      { ...request, stop: [' we'], logprobs: true, top_logprobs: 2 },
    ],
    [
      'a tool call',
      {
        ...request,
        tools: [
          {
            type: 'function',
            function: {
              name: 'look',
              parameters: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] },
            },
          },
        ],
        tool_choice: 'required',
        max_tokens: 100,
      },
    ],
  ])('replays %s', async (_, body) => {
    const verify = await saved('kind', body);
    const { code, stdout } = await service.cli([...verify, '--replay']);
    expect(`${code} ${stdout}`).toMatch(/^0 .*verified at L3/);
  });

  it.each([
    ['no limit', {}],
    ['a limit beyond the window', { max_tokens: 5000 }],
  ])('replays thinking that was ended for its length, under %s', async (_, limit) => {
    const { model: _model, max_tokens: _limit, ...asked } = request;
    const verify = await saved('thinking', { ...asked, model: 'thinker', ...limit });
    const body = JSON.parse(await readFile(path.join(service.folder, 'thinking.json'), 'utf8'));
    const { completion_tokens: all, completion_tokens_details: details } = body.usage;
    expect(details.reasoning_tokens).toBeGreaterThan(0);
    expect(details.reasoning_tokens).toBeLessThan(all);
    const { code, stdout } = await service.cli([...verify, '--replay']);
    expect(`${code} ${stdout}`).toMatch(/^0 .*verified at L3/);
  });

  it('replays with the clock of the record, whatever the time is now', async () => {
    const verify = await saved('clock', { ...request, model: 'clock' });
    const { predicate } = statementOf(await service.freeze({ ...request, model: 'clock' }));
    const claimed = JSON.parse((await service.cli(['evidence', 'show', 'clock.json'])).stdout);
    // The pinned second is part of the prompt, so a later answer has another prompt, and only the pin explains a match.
    if (predicate.prompt.template_clock !== claimed.predicate.prompt.template_clock)
      expect(predicate.prompt.tokens_sha256).not.toBe(claimed.predicate.prompt.tokens_sha256);

    expect((await service.cli([...verify, '--replay'])).code).toBe(0);
  });

  it('calls another thread count not comparable, by flag or by setting', async () => {
    const verify = await saved('threads', request);
    const byFlag = await service.cli([...verify, '--replay', '--threads', '2']);
    expect(byFlag).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('n_threads: here 2, in the record 1'),
    });
    expect((await service.cli([...verify, '--replay', '--threads', '64'])).code).toBe(2);
    const bySetting = await service.cli([...verify, '--replay', '--json'], { SVC_NUM_THREADS: '2' });
    expect(bySetting.code).toBe(2);
    expect(JSON.parse(bySetting.stdout)).toMatchObject({ verdict: 'not comparable', level: null });
  });

  it('finds an answer that the model did not give, even when its owner signed it', async () => {
    const verify = await saved('forged', { ...request, max_tokens: 8 });
    const forge = `
      import { readFile, writeFile } from 'node:fs/promises';
      const at = (name) => import(process.argv[1] + '/' + name);
      const { loadIdentity } = await at('trust/identity/instance.js');
      const { seal } = await at('trust/identity/dsse.js');
      const { sha256Hex, canonicalSha256 } = await at('trust/identity/canonical.js');
      const { keys } = await loadIdentity({ home: process.env.SVC_HOME });
      const body = JSON.parse(await readFile('forged.json', 'utf8'));
      const statement = JSON.parse(Buffer.from(body.evidence.payload, 'base64').toString());
      const tokens = Buffer.from(body.evidence.output_tokens, 'base64');
      tokens.writeUInt32LE(tokens.readUInt32LE(8) ^ 1, 8);
      body.choices[0].message.content = 'I never said this.';
      const { model, choices, usage } = body;
      statement.subject[0].digest.sha256 = canonicalSha256({ model, choices, usage });
      statement.subject[1].digest.sha256 = statement.predicate.output.tokens_sha256 = sha256Hex(tokens);
      body.evidence = { ...seal(keys, body.evidence.payloadType, Buffer.from(JSON.stringify(statement))), output_tokens: tokens.toString('base64') };
      await writeFile('forged.json', JSON.stringify(body));`;
    execFileSync(process.execPath, ['--input-type=module', '-e', forge, builtSources], {
      cwd: service.folder,
      env: service.env,
    });
    expect((await service.cli(verify)).code).toBe(0);
    expect(await service.cli([...verify, '--replay'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('BAD L3'),
    });
    expect(await service.cli([...verify, '--cheap'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('mismatch at token 2'),
    });
  });

  it('tells altered, strange and unreadable files apart', async () => {
    const verify = await saved('faults', request);
    const body = JSON.parse(await readFile(path.join(service.folder, 'faults.json'), 'utf8'));
    await service.save('altered.json', { ...body, model: 'other' });
    await service.save('twice.json', `{"evidence":{},${JSON.stringify(body).slice(1)}`);
    expect((await service.cli(['evidence', 'verify', 'altered.json'])).code).toBe(1);
    expect((await service.cli(['evidence', 'verify', 'twice.json'])).code).toBe(3);
    expect((await service.cli(['evidence', 'verify', 'faults.request.json'])).code).toBe(3);
    expect((await service.cli(['evidence', 'verify', 'missing.json'])).code).toBe(4);
    const noRequest = await service.cli(['evidence', 'verify', 'faults.json', '--request', 'missing.json']);
    expect([noRequest.code, noRequest.stderr]).toEqual([4, expect.stringContaining('"missing.json"')]);
    const elsewhere = { SVC_HOME: path.join(service.folder, 'empty') };
    expect((await service.cli(verify, elsewhere)).code).toBe(2);
    await service.save('pub.pem', (await service.cli(['evidence', 'pubkey'])).stdout);
    expect((await service.cli([...verify, '--pubkey', 'pub.pem'], elsewhere)).code).toBe(0);
  });

  it('calls a model file that cannot be run not comparable', async () => {
    const verify = await saved('file', request);
    const copy = await readFile(path.join(service.folder, 'tiny.gguf'));
    await service.save('copy.gguf', copy);
    await service.save('cut.gguf', copy.subarray(0, copy.length - 64));
    const replay = (file: string) => service.cli([...verify, '--replay', '--model', file]);
    expect((await replay('copy.gguf')).code).toBe(0);
    for (const [file, reason] of [
      [path.resolve('README.md'), 'GGUF'],
      ['cut.gguf', 'cut.gguf'],
      ['none.gguf', 'none.gguf'],
      ['clock.gguf', 'n/c L2 model'],
    ] as const)
      expect(await replay(file)).toMatchObject({ code: 2, stdout: expect.stringContaining(reason) });
  });

  it('signs with a rotated key at once, and keeps the records of the key before checkable', async () => {
    const verify = await saved('rotated', request);
    const boot = (await service.identity()).boot_id;
    expect(await service.cli(['evidence', 'rotate'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('empties the prompt cache on the disk'),
    });
    const again = await saved('rotated2', request);
    for (const args of [verify, again]) expect((await service.cli(args)).code).toBe(0);
    await service.save('history.json', (await service.cli(['evidence', 'pubkey', '--history'])).stdout);
    const elsewhere = { SVC_HOME: path.join(service.folder, 'empty') };
    for (const args of [verify, again])
      expect((await service.cli([...args, '--pubkey', 'history.json'], elsewhere)).code).toBe(0);
    const shown = await service.identity('?nonce=0123456789');
    expect(shown.boot_id).toBe(boot);
    await service.save('identity.json', JSON.stringify(shown));
    for (const args of [verify, again])
      expect((await service.cli([...args, '--pubkey', 'identity.json'], elsewhere)).code).toBe(0);
  });

  it('replays a folder and reports drift', async () => {
    const folder = path.join(service.folder, 'records');
    execFileSync('mkdir', [folder]);
    await saved('records/a', request);
    await saved('records/b', { ...request, temperature: 0.5 });
    const { code, stdout } = await service.cli(['evidence', 'replay', 'records', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { outcome: 'exact', sameTokens: 24, tokensPerS: expect.any(Number) },
      { outcome: 'exact' },
    ]);
    await service.save('records/b.request.json', { ...request, temperature: 0.6 });
    const other = await service.cli(['evidence', 'replay', 'records']);
    expect(other).toMatchObject({ code: 1, stdout: expect.stringContaining('1 exact') });
  });

  it('replays what it can of a folder, and says of each other file what is wrong', async () => {
    const folder = path.join(service.folder, 'mixed');
    execFileSync('mkdir', [folder]);
    const replay = async () => {
      const { code, stdout } = await service.cli(['evidence', 'replay', 'mixed', '--json']);
      const lines = JSON.parse(stdout) as { outcome: string }[];
      return { code, outcomes: lines.map(({ outcome }) => outcome) };
    };
    await saved('mixed/a', request);
    await saved('mixed/b', request);
    execFileSync('rm', [path.join(folder, 'b.request.json')]);
    expect(await replay()).toEqual({ code: 2, outcomes: ['exact', 'not_comparable'] });
    await service.save('mixed/c.json', '{}');
    expect(await replay()).toEqual({ code: 3, outcomes: ['exact', 'not_comparable', 'malformed'] });
    await saved('mixed/d', request);
    const body = JSON.parse(await readFile(path.join(folder, 'd.json'), 'utf8'));
    body.evidence.signatures[0].sig = Buffer.alloc(64).toString('base64');
    await service.save('mixed/d.json', body);
    expect(await replay()).toEqual({
      code: 1,
      outcomes: ['exact', 'not_comparable', 'malformed', 'mismatch'],
    });
  });
});
