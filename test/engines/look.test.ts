/** What is asked of an upstream beside jobs, in each dialect: its models, its health, its load. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addressPrivacy, readUpstreamUrl } from '../../src/server/api/remote-models/add-upstream.ts';
import { DEFAULT_DEADLINES } from '../../src/server/engine/upstream/limits.ts';
import { Connections } from '../../src/server/engine/upstream/http/connections.ts';
import { createProbe } from '../../src/server/engine/upstream/look/probe.ts';
import type { Dialect, Upstream } from '../../src/server/engine/upstream/ports.ts';
import { systemClock } from '../../src/lib/base/clock.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream/scripted-upstream.ts';

let upstream: ScriptedUpstream;
const connections = new Connections();
const probe = createProbe({ clock: systemClock, connections, userAgent: 'hearth/test' });
const { signal } = new AbortController();

beforeAll(async () => {
  upstream = await startUpstream();
});

beforeEach(() => {
  upstream.pages = {};
  upstream.health = 200;
  upstream.models = ['good'];
  upstream.owner = 'acme';
  upstream.serverName = 'scripted';
});

afterAll(async () => {
  connections.close();
  await upstream.close();
});

const as = (dialect: Dialect): Upstream => ({
  name: 'box',
  baseUrl: `${upstream.url}/v1`,
  dialect,
  privacy: 'local',
  key: async () => null,
  ca: async () => null,
  publicKey: null,
  deadlines: DEFAULT_DEADLINES,
  maxCalls: 4,
});

describe('the dialect of an upstream', () => {
  it.each([
    ['vllm', 'vllm'],
    ['llamacpp', 'llama-server'],
    ['sglang', 'sglang'],
    ['library', 'ollama'],
    ['organization-owner', 'openai'],
  ])('shows in the owner of its models: %s is %s', async (owner, dialect) => {
    upstream.owner = owner;
    expect(await probe.detect(as('openai'), signal)).toBe(dialect);
  });

  it('is that of a Hearth where its banner says so', async () => {
    upstream.serverName = 'hearth/1.2';
    expect(await probe.detect(as('openai'), signal)).toBe('hearth');
  });
});

describe('the models of an upstream', () => {
  it('have the window that vLLM tells, and the kind that their names do', async () => {
    upstream.models = [{ id: 'qwen', max_model_len: 32_768 }, { id: 'BAAI/bge-m3' }];
    expect(await probe.models(as('vllm'), signal)).toMatchObject([
      { name: 'qwen', kind: 'chat', contextLength: 32_768, media: null },
      { name: 'BAAI/bge-m3', kind: 'embedding', contextLength: null },
    ]);
  });

  it('of llama-server have the window of a slot, the width and the media that it tells', async () => {
    upstream.models = [{ id: 'x', meta: { n_ctx_train: 8_192, n_embd: 1_024 } }];
    upstream.pages = {
      '/props': { modalities: { vision: true, audio: false }, default_generation_settings: { n_ctx: 2_048 } },
    };
    expect(await probe.models(as('llama-server'), signal)).toMatchObject([
      { contextLength: 2_048, embeddingWidth: 1_024, media: ['image'] },
    ]);
  });

  it('of Ollama have what it shows of each', async () => {
    const model_info = { 'general.architecture': 'gemma', 'gemma.context_length': 8_192 };
    upstream.pages = { '/api/show': { capabilities: ['completion', 'vision', 'thinking'], model_info } };
    expect(await probe.models(as('ollama'), signal)).toMatchObject([
      { kind: 'chat', contextLength: 8_192, media: ['image'], reasoning: true },
    ]);
    const parameters = 'stop                           "<|im_end|>"\nnum_ctx                        2048';
    upstream.pages = { '/api/show': { model_info, parameters } };
    expect(await probe.models(as('ollama'), signal)).toMatchObject([{ contextLength: 2_048 }]);
  });

  it('are as many as there are, without a warning from Node', async () => {
    upstream.models = Array.from({ length: 12 }, (_, index) => `good:${index}`);
    const warnings: Error[] = [];
    const heard = (warning: Error): void => void warnings.push(warning);
    process.on('warning', heard);
    expect(await probe.models(as('ollama'), new AbortController().signal)).toHaveLength(12);
    process.off('warning', heard);
    expect(warnings).toEqual([]);
  });

  it('of a Hearth are its own, and not those of its upstreams', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    upstream.models = [
      {
        id: 'own',
        engine: 'local',
        kind: 'chat',
        capabilities: ['chat', 'reasoning'],
        context_length: 512,
        digest,
      },
      { id: 'box/good', engine: 'remote', kind: 'chat' },
    ];
    expect(await probe.models(as('hearth'), signal)).toMatchObject([
      { name: 'own', contextLength: 512, reasoning: true, digest: 'a'.repeat(64) },
    ]);
  });

  it('are taken only by usable names, each once', async () => {
    upstream.models = [
      { id: 'a' },
      { id: 'a' },
      { id: 7 },
      { id: 'b\nX-Evil: 1' },
      { id: '' },
      { id: 'c'.repeat(300) },
    ];
    expect((await probe.models(as('openai'), signal)).map(({ name }) => name)).toEqual(['a']);
  });

  it('are refused where the list is none', async () => {
    upstream.pages = { '/v1/models': { data: 'none' } };
    await expect(probe.models(as('openai'), signal)).rejects.toMatchObject({ code: 'upstream_broken' });
  });
});

const VLLM_PAGE = `
vllm:num_requests_running{engine="0",model_name="m"} 37.0
vllm:num_requests_running_total{engine="0"} 999
vllm:num_requests_waiting{engine="0",model_name="m"} 12.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"} 9.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="deferred"} 3.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5
`;

describe('the load of an upstream', () => {
  it('of vLLM counts what waits for room, by whole names', async () => {
    upstream.pages = { '/metrics': VLLM_PAGE };
    expect(await probe.look(as('vllm'), signal)).toEqual({
      state: 'busy',
      load: { running: 37, waiting: 9, capacity: null, kvUse: 0.5 },
    });
  });

  it('that only defers long prompts is ready', async () => {
    upstream.pages = { '/metrics': VLLM_PAGE.replace('} 9.0', '} 0.0') };
    expect(await probe.look(as('vllm'), signal)).toMatchObject({ state: 'ready', load: { waiting: 0 } });
  });

  it('of llama-server is that of its slots', async () => {
    const slots = [{ is_processing: true }, { is_processing: true }];
    upstream.pages = { '/slots': slots };
    expect(await probe.look(as('llama-server'), signal)).toMatchObject({
      state: 'busy',
      load: { running: 2, capacity: 2 },
    });
    upstream.pages = { '/slots': [...slots, { is_processing: false }] };
    expect(await probe.look(as('llama-server'), signal)).toMatchObject({
      state: 'ready',
      load: { capacity: 3 },
    });
  });

  it('that is not told is not zero', async () => {
    const unknown = { running: null, waiting: null, capacity: null, kvUse: null };
    for (const dialect of ['vllm', 'llama-server', 'sglang', 'openai', 'hearth'] as const)
      expect(await probe.look(as(dialect), signal)).toEqual({ state: 'ready', load: unknown });
  });

  it('is hidden while it loads its model, which is no failure', async () => {
    upstream.health = 503;
    expect(await probe.look(as('llama-server'), signal)).toMatchObject({ state: 'busy' });
  });

  it('is down where nothing answers', async () => {
    const nobody = { ...as('vllm'), baseUrl: 'http://127.0.0.1:1/v1' };
    expect(await probe.look(nobody, signal)).toMatchObject({ state: 'down' });
  });
});

describe('the URL of an upstream', () => {
  it.each([
    ['http://10.0.0.5:8000', 'http://10.0.0.5:8000/v1', 'lan'],
    ['localhost:8080/', 'http://localhost:8080/v1', 'local'],
    ['https://api.example.com/openai/v1/', 'https://api.example.com/openai/v1', 'remote'],
    ['http://gpu.local/v1/chat/completions', 'http://gpu.local/v1', 'lan'],
    ['http://[::1]:1', 'http://[::1]:1/v1', 'local'],
    ['http://8.8.8.8', 'http://8.8.8.8/v1', 'remote'],
    ['http://10.example.com', 'http://10.example.com/v1', 'remote'],
  ])('%s means %s (%s)', (text, url, privacy) => {
    expect([readUpstreamUrl(text), addressPrivacy(readUpstreamUrl(text))]).toEqual([url, privacy]);
  });

  it.each(['http://user:key@box', 'ftp://box', 'http://box?key=1', 'http://'])('%s is refused', (text) => {
    expect(() => readUpstreamUrl(text)).toThrow('URL');
  });
});
