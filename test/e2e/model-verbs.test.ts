/** The verbs for models as a user runs them: data on stdout, the rest on stderr, exit codes, and a running server. */
import { once } from 'node:events';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tinyChatContent } from '../../tools/models/tiny-chat.ts';
import { writeTinyLora } from '../../tools/models/tiny-lora.ts';
import { f32, u32 } from '../../tools/gguf/metadata.ts';
import { encodeGguf } from '../../tools/gguf/writer.ts';
import { template } from '../support/templates.ts';
import { startFakeHub } from '../support/hub/fake-hub.ts';
import { hearth, readyUrl, startHearth } from '../support/process/hearth.ts';
import { chatBytes, temporaryFolder, writeChat, writeEmbed } from '../support/temp-home.ts';

const TOKEN = 'hf_abcdefghijklmnopqrstuvwxyz0123456789';

async function environment(extra: Record<string, string> = {}): Promise<Record<string, string>> {
  const home = await temporaryFolder();
  return { SVC_HOME: join(home, 'svc'), SVC_NUM_THREADS: '1', HOME: home, ...extra };
}

async function hubEnvironment(): Promise<{
  hub: Awaited<ReturnType<typeof startFakeHub>>;
  env: Record<string, string>;
}> {
  const hub = await startFakeHub({ 'Tiny-Q4_0.gguf': chatBytes(4), 'Tiny-Q8_0.gguf': chatBytes(8) });
  const env = await environment({
    HF_ENDPOINT: hub.endpoint,
    SVC_HUB_HOSTS: new URL(hub.cdn).host,
    HF_TOKEN: TOKEN,
  });
  return { hub, env };
}

describe('a model on the command line', () => {
  it('goes from a file to the list, through every verb, and away again', async () => {
    const env = await environment();
    const files = await temporaryFolder();
    const chat = await writeChat(files, 'Tiny-Chat.gguf');
    const run = async (...args: string[]) => {
      const outcome = await hearth(args, env);
      expect(outcome, args.join(' ')).toMatchObject({ code: 0 });
      return outcome;
    };
    // With its probe: llama.cpp loads the file in a worker of its own.
    expect((await run('import', chat)).stdout).toBe('');
    await run('import', await writeEmbed(files), '--id', 'vectors', '--copy', '--no-probe');
    const listed = JSON.parse((await run('list', '--json')).stdout) as { id: string; kind: string }[];
    expect(listed).toMatchObject([
      { id: 'tiny-chat', kind: 'chat' },
      { id: 'vectors', kind: 'embedding' },
    ]);
    await run('alias', 'my/alias', 'tiny-chat');
    expect(
      JSON.parse((await run('set', 'my/alias', 'num_ctx=64', 'stop=a', 'stop=b', '--json')).stdout),
    ).toEqual({
      num_ctx: 64,
      stop: ['a', 'b'],
    });
    expect(JSON.parse((await run('show', 'my/alias', '--json')).stdout)).toMatchObject({
      id: 'tiny-chat',
      isDefault: true,
      memory: { numCtx: 64 },
      source: { type: 'file', ref: chat },
    });
    // As with Ollama: settings of a copy are its own, and each outlives the other.
    expect((await run('cp', 'tiny-chat', 'Pirate')).stderr).toContain(
      'pirate is a copy of tiny-chat with settings of its own; both use the same files.',
    );
    await run('set', 'pirate', 'num_ctx=32');
    const freed = await run('set', 'pirate', 'num_ctx=');
    expect(freed.stderr).toContain(
      'The window that fits the memory comes with the next load: hearth stop pirate unloads it.',
    );
    await run('set', 'pirate', 'num_ctx=32');
    const windowOf = async (id: string) =>
      JSON.parse((await run('show', id, '--json')).stdout).memory.numCtx as number;
    expect([await windowOf('pirate'), await windowOf('tiny-chat')]).toEqual([32, 64]);
    expect(JSON.parse((await run('show', 'tiny-chat', '--json')).stdout)).toMatchObject({ isDefault: true });
    const taken = await hearth(['cp', 'tiny-chat', 'vectors'], env);
    expect(taken.code).not.toBe(0);
    expect(taken.stderr).toContain('"vectors" is already the name of model "vectors"');
    const { inPlace } = JSON.parse((await run('du', '--json')).stdout) as { inPlace: number };
    expect(inPlace).toBe((await stat(chat)).size);
    await run('rm', 'pirate');
    // An encoder keeps no state between its steps.
    expect((await run('show', 'vectors')).stdout).toMatch(/^memory +[\d.]+ [KM]iB weights$/m);
    expect(JSON.parse((await run('verify', '--json')).stdout)).toMatchObject([{ ok: true }, { ok: true }]);
    await run('rm', 'my/alias', 'vectors');
    expect((await run('list')).stdout).toContain('tiny-chat *');
    expect(await readdir(join(env['SVC_HOME'] ?? '', 'store/blobs'))).toEqual([]);
  });

  it('takes settings of its loads, shows each in a line, and refuses what cannot be meant', async () => {
    const env = await environment();
    // As other programs call it.
    await hearth(['import', await writeChat(await temporaryFolder()), '--name', 'm', '--no-probe'], env);
    const set = await hearth(['set', 'm', 'kv_type=q8_0', 'gpu=off', 'tensor_split=3,1', 'top_k=5'], env);
    expect(set.stdout).toBe('top_k=5\nkv_type=q8_0\ngpu=off\ntensor_split=3,1\n');
    expect(set.stderr).toBe(
      'Defaults of requests apply from the next request on. Load settings take effect when m is next loaded; if it is loaded with other settings now, the next request loads it again.\n',
    );
    const shown = (await hearth(['show', 'm'], env)).stdout;
    expect(shown).toMatch(/^defaults +top_k=5\nkv_type +q8_0\ngpu +off\ntensor_split +3,1\nlicence /m);
    for (const [pair, sentence] of [
      ['split_mode=rows', 'split_mode=rows is not usable; write none, layer or row'],
      ['num_cxt=64', 'there is no setting num_cxt. Did you mean num_ctx? hearth set --help lists them.'],
      ['top_k', '"top_k" has no value; write it as top_k=VALUE, and an empty value to remove it'],
      ['min_p=2', 'min_p must be at most 1.'],
    ] as const) {
      const refused = await hearth(['set', 'm', pair], env);
      expect([refused.code, refused.stderr]).toEqual([2, `hearth: ${sentence}\n`]);
    }
    const removed = await hearth(['set', 'm', 'kv_type=', 'gpu=', 'tensor_split='], env);
    expect(removed.stdout).toBe('top_k=5\n');
    expect(await hearth(['set', 'm'], env)).toMatchObject({ code: 0, stdout: 'top_k=5\n', stderr: '' });
    expect((await hearth(['set', 'm', 'top_k='], env)).stdout).toBe('m has no settings of its own.\n');
  });

  it('takes an adapter, which is installed like a model and named by it', async () => {
    const env = await environment();
    const folder = await temporaryFolder();
    await hearth(['import', await writeChat(folder), '--id', 'm', '--no-probe'], env);
    await writeTinyLora(join(folder, 'style.gguf'));
    // Without --no-probe: there is nothing to try.
    expect(await hearth(['import', join(folder, 'style.gguf')], env)).toMatchObject({ code: 0 });
    expect((await hearth(['list'], env)).stdout).toMatch(/^style +adapter /m);
    expect((await hearth(['show', 'style'], env)).stdout).toMatch(/^adapter +of 2 matrices, alpha 4$/m);
    await hearth(['set', 'm', 'lora=style=off'], env);
    expect((await hearth(['show', 'm'], env)).stdout).toMatch(/^lora +style=off$/m);
    const refused = await hearth(['set', 'm', 'draft_model=style'], env);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      'hearth: draft_model is not usable: style is not a chat model.\n',
    ]);
  });

  it('shows how it writes, and why; a file of its user says it otherwise', async () => {
    const env = await environment();
    const file = join(await temporaryFolder(), 'Tiny.gguf');
    await writeFile(file, encodeGguf(tinyChatContent({ chatTemplate: template('hermes') })));
    await hearth(['import', file, '--id', 'tiny', '--no-probe'], env);
    const show = async () => (await hearth(['show', 'tiny', '--json'], env)).stdout;
    const first = await show();
    const { format } = JSON.parse(first) as { format: { format: object; evidence: object[] } };
    expect(format.evidence).toContainEqual(
      expect.objectContaining({ about: 'ids', probe: expect.any(String) }),
    );
    // Kept in the home: the second time nothing is started.
    const [kept = ''] = await readdir(join(env['SVC_HOME'] ?? '', 'formats'));
    expect(kept).toMatch(/^[0-9a-f]{32}\.json$/);
    expect(await show()).toBe(first);
    const lines = (await hearth(['show', 'tiny'], env)).stdout;
    expect(lines).toMatch(/^answers end +with an end token, or at the end of the window$/m);
    expect(lines).toMatch(
      /^tools +json <tool_call>\ncalls +several in one answer\npast calls +written by the template$/m,
    );
    expect(lines).toMatch(
      /^detected +calls: A call is written as .* \(rendered: one call, arguments as data\)$/m,
    );
    // What is shown is what a file may say.
    const mine = join(await temporaryFolder(), 'format.json');
    await writeFile(mine, JSON.stringify({ ...format.format, thinking: { open: '<hm>', close: '</hm>' } }));
    expect(await hearth(['set', 'tiny', `tool_format=${mine}`], env)).toMatchObject({ code: 0 });
    expect((await hearth(['show', 'tiny'], env)).stdout).toMatch(/^thinking +"<hm>" to "<\/hm>"$/m);
    await writeFile(mine, '{"tools": []}');
    // It was copied.
    expect((await hearth(['show', 'tiny'], env)).stdout).toMatch(/^thinking +"<hm>" to "<\/hm>"$/m);
    const refused = await hearth(['set', 'tiny', `tool_format=${mine}`], env);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be used as a tool format: '),
    });
  });

  it('takes no template that cannot be read, and says what is wrong with one that it takes', async () => {
    const env = await environment();
    const folder = await temporaryFolder();
    const path = join(folder, 'base.gguf');
    await writeFile(path, encodeGguf(tinyChatContent({ chatTemplate: null })));
    const misspelt = await hearth(['import', path, '--template', 'lama-3'], env);
    expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining('write chatml, llama-3, ') });
    expect((await hearth(['list', '--json'], env)).stdout.trim()).toBe('[]');
    await writeChat(folder, 'tiny.gguf');
    await hearth(['import', join(folder, 'tiny.gguf'), path, '--no-probe'], env);
    const set = async (source: string) => {
      const file = join(folder, 'chat.jinja');
      await writeFile(file, source);
      return hearth(['set', 'base', `template=${file}`], env);
    };
    const open = await set('{% for m in messages %}{{ m.content }}');
    expect(open).toMatchObject({ code: 2, stdout: '' });
    expect(open.stderr).toMatch(/template stays as it was: .* it ends inside a block or an expression\.\n$/);
    const deaf = await set('{{ messages[0].role }}');
    expect(deaf.stderr.split('\n')).toEqual([
      'The template leaves out what the user says.',
      expect.stringContaining('if it is loaded with other settings now'),
      expect.stringContaining('end after 4096 tokens'),
      '',
    ]);
    expect((await hearth(['list'], env)).stdout).toMatch(/^tiny \*/m);
    const shown = (await hearth(['show', 'base'], env)).stdout;
    expect(shown).toMatch(/^detected +template: The template leaves out what the user says\./m);
    expect(shown.match(/^template /gm)).toHaveLength(1);
    expect(shown).toMatch(/^answers end +after 4096 tokens, because its file has no chat template; /m);
  });

  it('is checked: what its template says, forty cases, and what its maker recommends', async () => {
    const env = await environment();
    const content = tinyChatContent({ chatTemplate: template('hermes') });
    const file = join(await temporaryFolder(), 'Tiny.gguf');
    const recommended = { 'general.sampling.temp': f32(0.5), 'general.sampling.top_k': u32(20) };
    await writeFile(file, encodeGguf({ ...content, metadata: { ...content.metadata, ...recommended } }));
    await hearth(['import', file, '--id', 'tiny'], env);
    const { code, stdout } = await hearth(['check', 'tiny', '--json'], env);
    expect(code).toBe(0);
    const card = JSON.parse(stdout) as {
      cases: { all: number; passed: number; failed: unknown[]; left: number };
    };
    expect(card).toMatchObject({
      model: 'tiny',
      toolFormat: 'json <tool_call>',
      format: { template: 'own', format: { tools: { several: true }, thinking: null } },
      makerDefaults: { temp: 0.5, top_k: 20 },
      defects: [],
    });
    const { all, passed, failed, left } = card.cases;
    expect([all, passed + failed.length + left]).toEqual([40, 40]);
    // A model that has learned nothing fills some strings up to its last token, and loses no case in another way.
    for (const each of failed)
      expect(each).toMatchObject({ reason: expect.stringContaining('did not end within') });
    // No fold saves the words of the model; such cases come first, so that each machine has the time for them.
    const lossy = template('hermes').replace(
      String.raw`assistant\n' + message.content`,
      String.raw`assistant\n'`,
    );
    const source = join(await temporaryFolder(), 'lossy.jinja');
    await writeFile(source, lossy);
    await hearth(['set', 'tiny', `template=${source}`], env);
    const shown = await hearth(['check', 'tiny'], env);
    expect(shown.stderr).toMatch(
      /^Loading tiny …\nTried 0 of 40 cases …\n(?:Tried [1-4]0 of 40 cases …\n)*$/,
    );
    expect(shown.stdout).toMatch(/^tools +json <tool_call>\ncalls +several in one answer$/m);
    expect(shown.stdout).toMatch(
      /^failed +history: several turns: the prompt does not contain "Mild 7404\."$/m,
    );
    expect(shown.stdout).toMatch(
      /^defect +The template loses parts of conversations: words beside a call, an answer after a result, several turns\.$/m,
    );
    expect(shown.stdout).toMatch(/^recommended +temp=0.5 top_k=20$/m);
  });

  it('that fails to verify ends with exit code 1 and says which file', async () => {
    const env = await environment();
    const path = await writeChat(await temporaryFolder());
    await hearth(['import', path, '--id', 'm', '--no-probe'], env);
    await writeFile(path, chatBytes(9));
    const { code, stdout } = await hearth(['verify', 'm'], env);
    expect([code, stdout]).toEqual([1, `m damaged: ${path}: its SHA-256 is not the one installed\n`]);
  });

  it('that passes the look at its header but fails its trial is not installed', async () => {
    const env = await environment();
    const { metadata, tensors } = tinyChatContent();
    const path = join(await temporaryFolder(), 'gap.gguf');
    const incomplete = tensors.filter((tensor) => tensor.name !== 'blk.1.ffn_down.weight');
    await writeFile(path, encodeGguf({ metadata, tensors: incomplete }));
    expect(await hearth(['import', path, '--no-probe', '--id', 'untried'], env)).toMatchObject({ code: 0 });
    const tried = await hearth(['import', path, '--id', 'tried'], env);
    expect(tried.code).toBe(1);
    expect(tried.stderr).toMatch(/"[^"]*gap\.gguf" could not be loaded: /);
    expect(JSON.parse((await hearth(['list', '--json'], env)).stdout)).toMatchObject([{ id: 'untried' }]);
  });

  it('that has a template which writes nothing for a first message is not installed', async () => {
    const env = await environment();
    const chatTemplate = "{% if messages|length < 2 %}{{ raise_exception('two at least') }}{% endif %}";
    const path = join(await temporaryFolder(), 'refusing.gguf');
    await writeFile(path, encodeGguf(tinyChatContent({ chatTemplate })));
    const tried = await hearth(['import', path, '--id', 'tried'], env);
    expect([tried.code, tried.stderr]).toEqual([
      1,
      expect.stringContaining(
        'renders no message from a user alone (two at least), and --no-probe imports it without this trial',
      ),
    ]);
  });

  it('that cannot be had ends with its exit code and one sentence on stderr', async () => {
    const cases: [number, string[]][] = [
      [4, ['rm', 'nothing']],
      [4, ['import', '/nowhere/x.gguf']],
      [1, ['import', '/dev/zero']],
      [2, ['import']],
      [2, ['pull', 'llama3']],
      [2, ['import', '/x.gguf', '--id', '../x']],
      [4, ['import', '--from', 'lmstudio', '--all']],
    ];
    const env = await environment();
    const outcomes = await Promise.all(cases.map(([, args]) => hearth(args, env)));
    for (const [position, [code, args]] of cases.entries()) {
      expect(outcomes[position], args.join(' ')).toMatchObject({ code, stdout: '' });
      expect(outcomes[position]?.stderr.trim().split('\n')).toHaveLength(1);
    }
  });
});

describe('the words around models', () => {
  it('say what an import changes, once, and nothing of its steps', async () => {
    const env = await environment();
    const folder = await temporaryFolder();
    const first = await hearth(['import', await writeChat(folder), '--id', 'one', '--no-probe'], env);
    expect(first.stderr).toBe('one is installed.\none is the default chat model now.\n');
    const path = join(folder, 'base.gguf');
    await writeFile(path, encodeGguf(tinyChatContent({ chatTemplate: null })));
    const second = await hearth(['import', path], env);
    expect(second.stderr.trim().split('\n')).toEqual([
      'base is installed.',
      expect.stringMatching(/^base has no chat template: a base model/),
      'one stays the default chat model; hearth default base makes base the default.',
    ]);
    const quiet = await hearth(
      ['import', await writeChat(folder, 'two.gguf', 1), '--no-probe', '--no-default'],
      env,
    );
    expect([quiet.code, quiet.stderr]).toEqual([0, 'two is installed.\n']);
    expect((await hearth(['default'], env)).stdout).toMatch(/^chat +one$/m);
    expect((await hearth(['default', '--auto'], env)).code).toBe(0);
    expect((await hearth(['rm', 'two'], env)).code).toBe(0);
    await hearth(['alias', 'uno', 'one'], env);
    expect((await hearth(['list'], env)).stdout).toMatch(/^one \* +chat .* uno$/m);
    expect((await hearth(['list'], env)).stdout).toMatch(/^base +base /m);
    const defaultIn = async () =>
      /^SVC_DEFAULT_MODEL +(.*?) {2,}/m.exec((await hearth(['config'], env)).stdout)?.[1];
    expect(await defaultIn()).toBe('one (automatic)');
    expect((await hearth(['default', 'base'], env)).stdout).toMatch(/^chat +base$/m);
    expect(await defaultIn()).toBe('base (hearth default)');
    expect(await hearth(['default', 'base', '--auto'], env)).toMatchObject({ code: 2, stdout: '' });
    expect((await hearth(['default', '--auto'], env)).stdout).toMatch(/^chat +one$/m);
    expect(await defaultIn()).toBe('one (automatic)');
    const vectors = await writeEmbed(folder);
    for (const id of ['old', 'new']) {
      const imported = await hearth(['import', vectors, '--id', id, '--no-probe'], env);
      const back = '; hearth default old makes old the default again. Vectors of the two cannot be compared';
      expect(imported.stderr).toBe(
        `${id} is installed.\n${id} is the default embedding model now${id === 'old' ? '' : back}.\n`,
      );
    }
  });

  it('bring a removed built-in model back, from wherever it is missed', async () => {
    const env = await environment();
    const advice = /ships with Hearth[;,] (?:install it with|so run): hearth restore hearth-mini/;
    expect((await hearth(['restore'], env)).stderr).toContain('hearth-mini is installed.');
    expect((await hearth(['rm', 'hearth-mini'], env)).stderr).toContain(
      'hearth restore hearth-mini brings it back',
    );
    expect((await hearth(['rm', 'hearth-embed'], env)).code).toBe(0);
    expect((await hearth(['list'], env)).stderr).toContain('hearth restore brings the built-in ones back');
    for (const verb of ['show', 'import', 'pull'])
      expect((await hearth([verb, 'hearth-mini'], env)).stderr, verb).toMatch(advice);
    expect(await hearth(['restore', 'hearth-mini'], env)).toMatchObject({
      code: 0,
      stderr: 'hearth-mini is installed.\n',
    });
    expect((await hearth(['restore'], env)).stderr).toContain('hearth-embed is installed.');
    expect((await hearth(['show', 'hearth-mini'], env)).stdout).toMatch(
      /^limits +knows only Hearth; cannot calculate/m,
    );
    expect((await hearth(['show', 'hearth-embed'], env)).stdout).toMatch(
      /^vectors +384 numbers, and zeros up to 768 \(hearth set hearth-embed dimensions=native leaves them out\); mean pooling$/m,
    );
    expect(JSON.parse((await hearth(['show', 'hearth-mini', '--json'], env)).stdout)).toMatchObject({
      limits: expect.stringMatching(/^knows only Hearth; /),
      tools: 'svc-tool-envelope',
    });
    expect((await hearth(['show', 'hearth-mimi'], env)).stderr).toContain('Did you mean hearth-mini?');
    expect((await hearth(['restore', 'other'], env)).code).toBe(2);
  });

  it('name the verb that was meant', async () => {
    const env = await environment();
    const { code, stdout, stderr } = await hearth(['chat', 'hello'], env);
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      'hearth: there is no verb chat. Did you mean hearth run?\n',
    ]);
    expect((await hearth(['version'], env)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('hearth pull', () => {
  it('reports progress as JSON lines and says the token nowhere', async () => {
    const { hub, env } = await hubEnvironment();
    const { code, stdout, stderr } = await hearth(
      ['pull', 'Some/Model-GGUF:Q8_0', '--json', '--no-probe'],
      env,
    );
    expect([code, stderr]).toEqual([0, '']);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { status: string });
    expect(events.at(-1)).toEqual({ status: 'success', id: 'some/model-gguf:q8_0' });
    expect(hub.requests('hub')[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(stdout + stderr).not.toContain(TOKEN);
  });

  it('lists the choices on a miss and ends with exit code 4', async () => {
    const { env } = await hubEnvironment();
    const { code, stdout, stderr } = await hearth(['pull', 'Some/Model-GGUF:Q2_K'], env);
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain('available: Q4_0, Q8_0');
    expect(stderr).not.toContain(TOKEN);
  });

  it('continues after an interrupt', async () => {
    const { hub, env } = await hubEnvironment();
    hub.onCdn = (_request, response) => {
      response.writeHead(200, { 'content-length': chatBytes().length });
      response.write(chatBytes(4).subarray(0, 100_000));
      return true;
    };
    const child = startHearth(['pull', 'Some/Model-GGUF', '--json', '--no-probe'], env);
    const partial = join(env['SVC_HOME'] ?? '', 'store/partial');
    await expect
      .poll(() => readdir(partial).catch(() => []))
      .toContainEqual(expect.stringMatching(/\.part$/));
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(130);
    hub.onCdn = () => false;
    expect(await hearth(['pull', 'Some/Model-GGUF', '--no-probe'], env)).toMatchObject({ code: 0 });
    expect(await readdir(partial)).toEqual([]);
  });

  it('prints names from the hub without their control characters', async () => {
    const { hub, env } = await hubEnvironment();
    hub.listing = () => [
      {
        type: 'file',
        path: '\u001b]52;c;x\u0007\u202e-Q9_9.gguf',
        size: 5,
        lfs: { oid: 'a'.repeat(64), size: 5 },
      },
    ];
    const { stderr } = await hearth(['pull', 'Some/Model-GGUF:Q2_K'], env);
    expect(stderr).toContain('available');
    // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not be there
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});

describe('hearth import --from', () => {
  it('adopts what another program has, and says what it could not use', async () => {
    const env = await environment();
    const models = join(env['HOME'] ?? '', '.lmstudio/models/pub');
    await mkdir(join(models, 'Good'), { recursive: true });
    await mkdir(join(models, 'Bad'), { recursive: true });
    await writeChat(join(models, 'Good'), 'Good-Q4_0.gguf');
    await writeFile(join(models, 'Bad', 'Bad-Q4_0.gguf'), 'GGUF but not really, only a text of some length');
    const found = await hearth(['discover', '--json'], env);
    expect(found.stdout).toContain('pub/good');
    const { code, stderr } = await hearth(['import', '--from', 'lmstudio', '--all', '--no-probe'], env);
    expect(code).toBe(1);
    expect(stderr).toContain('1 of 2 models were not installed');
    expect(JSON.parse((await hearth(['list', '--json'], env)).stdout)).toMatchObject([{ id: 'pub/good' }]);
  });
});

describe('a running server', () => {
  it('shows what the verbs change with its next answer, and keeps streaming during a pull', async () => {
    const { hub, env } = await hubEnvironment();
    await hearth(['import', await writeChat(await temporaryFolder()), '--id', 'm', '--no-probe'], env);
    const server = startHearth(['serve'], { ...env, SVC_PORT: '0', SVC_LOG_LEVEL: 'warn' });
    onTestFinished(() => void server.kill('SIGKILL'));
    const url = await readyUrl(server);
    const ids = async () =>
      ((await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] }).data.map(
        (model) => model.id,
      );
    expect(await ids()).toContain('m');
    const stream = fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'm',
        stream: true,
        max_tokens: 200,
        messages: [{ role: 'user', content: 'forever' }],
      }),
    }).then((response) => response.text());
    expect(await hearth(['pull', 'Some/Model-GGUF', '--no-probe'], env)).toMatchObject({ code: 0 });
    expect(await ids()).toContain('some/model-gguf:q8_0');
    expect((await stream).trimEnd()).toMatch(/data: \[DONE\]$/);
    await hearth(['rm', 'some/model-gguf:q8_0'], env);
    expect(await ids()).not.toContain('some/model-gguf:q8_0');
    expect(hub.requests('cdn')).toHaveLength(1);
  });
});
