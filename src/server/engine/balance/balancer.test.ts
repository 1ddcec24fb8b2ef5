import { beforeEach, describe, expect, it } from 'vitest';
import { generateJob } from '../../../../test/support/engine/jobs.ts';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { silentLogger } from '../../../lib/base/logger.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import type { Engine, JobListener, ModelTarget } from '../ports.ts';
import { poolTarget } from '../upstream/pool-target.ts';
import type { Look, RemoteTarget, Upstream } from '../upstream/ports.ts';
import { remoteTarget } from '../upstream/remote-target.ts';
import { stagedEngine } from '../stages.ts';
import { Balancer } from './balancer.ts';
import { DEFAULT_BALANCE_LIMITS as limits } from './limits.ts';

const noLoad = { running: null, waiting: null, capacity: null, kvUse: null };
const ready: Look = { state: 'ready', load: noLoad };

function target(name: string): RemoteTarget {
  const upstream: Upstream = {
    name,
    baseUrl: `http://${name}/v1`,
    dialect: 'vllm',
    privacy: 'lan',
    key: async () => null,
    ca: async () => null,
    publicKey: null,
    deadlines: { connectMs: 1, firstByteMs: 1, stallMs: 1, wholeMs: 1 },
    maxCalls: 8,
  };
  const model = {
    name: 'm',
    kind: 'chat' as const,
    contextLength: 512,
    media: null,
    embeddingWidth: null,
    reasoning: null,
    digest: null,
  };
  return remoteTarget(`${name}/m`, { upstream, model }, '1');
}

const pool = poolTarget('pool', [target('a'), target('b')], { equalWeights: false });
let clock: ManualClock;
let balancer: Balancer;
let engine: Engine;
let looks: Record<string, Look>;
let models: Record<string, readonly string[]>;
let looked: string[];
let sent: { readonly id: string; readonly listener: JobListener }[];

beforeEach(() => {
  clock = new ManualClock();
  looks = {};
  models = {};
  looked = [];
  sent = [];
  const scheduler = {
    submit: (submission, _signal, listener) => void sent.push({ id: submission.target.modelId, listener }),
    residencies: () => [],
  } as Pick<Engine, 'submit' | 'residencies'> as Engine;
  balancer = new Balancer({
    residencies: () => [],
    clock,
    log: silentLogger,
    random: () => 0,
    probe: {
      look: async ({ name }) => {
        looked.push(name);
        return looks[name] ?? ready;
      },
      models: async ({ name }) =>
        (models[name] ?? ['m']).map((each) => ({ ...target(name).source.model, name: each })),
    },
  });
  engine = stagedEngine(scheduler, [balancer]);
});

/** Submits one job; resolves with what its listener hears at its end. */
function submit(to: ModelTarget = pool): Promise<Error | null> {
  return new Promise((resolve) => {
    const submission = { target: to, job: generateJob(), clientKey: 'me', numCtx: null, keepAliveMs: null };
    engine.submit(submission, new AbortController().signal, { onEvent: () => {}, onEnd: resolve });
  });
}

const last = () => {
  const job = sent.at(-1);
  if (job === undefined) throw new Error('nothing was sent');
  return job;
};
function finish(): void {
  const { listener } = last();
  listener.onEvent({ type: 'text', text: 'x' });
  listener.onEvent({
    type: 'done',
    finishReason: 'stop',
    usage: { promptTokens: 1, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0 },
    timings: { prefillMs: 0, decodeMs: 0 },
  });
  listener.onEnd(null);
}
const unreachable = (upstream: string) =>
  fail('upstream_unreachable', { upstream, reason: 'nothing listens there' });

describe('upstreams in use', () => {
  it('count a command apart from this service: one that dies says nothing of the other', async () => {
    const { place: _, ...here } = target('here');
    const local = { ...here, modelId: 'm', engine: 'local' as const };
    const command = { ...target('box'), engine: 'command' as const };
    void submit(poolTarget('both', [command, local], { equalWeights: false }));
    last().listener.onEnd(fail('worker_crashed', { model: 'box/m', reason: 'exit code 1' }));
    finish();
    const counts = balancer.upstreams().map(({ name, failures, requests }) => ({ name, failures, requests }));
    expect(counts).toEqual([
      { name: 'box', failures: { broken: 1 }, requests: 1 },
      { name: 'local', failures: {}, requests: 1 },
    ]);
  });

  it('are looked at as they are spoken to now', async () => {
    void submit(target('a'));
    finish();
    const { source, ...rest } = target('a');
    const changed = {
      ...rest,
      source: { ...source, upstream: { ...source.upstream, dialect: 'hearth' as const } },
    };
    void submit(changed);
    finish();
    expect(balancer.upstreams()).toMatchObject([{ name: 'a', dialect: 'hearth', requests: 2 }]);
  });

  it('are not looked at before the first request, and looked at while they idle', async () => {
    await clock.advance(60_000);
    expect([looked, clock.pending]).toEqual([[], 0]);
    void submit();
    finish();
    await clock.advance(3 * limits.idleProbeMs);
    expect(looked.filter((name) => name === 'a').length).toBeGreaterThanOrEqual(2);
  });

  it('are remembered while requests could go there, however long ago the service started', async () => {
    await clock.advance(2 * limits.forgetMs);
    void submit();
    finish();
    expect(balancer.upstreams().map(({ name, requests }) => [name, requests])).toEqual([
      ['a', 1],
      ['b', 0],
    ]);
    await clock.advance(limits.forgetMs / 2);
    void submit();
    finish();
    await clock.advance(limits.forgetMs * 0.75);
    expect(balancer.upstreams()).toHaveLength(2);
  });

  it('are forgotten when nobody has used them for long', async () => {
    void submit();
    finish();
    await clock.advance(limits.forgetMs + limits.idleProbeMs);
    expect(balancer.upstreams()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('one that is gone is skipped, and found again', async () => {
    void submit();
    expect(last().id).toBe('a/m');
    looks['a'] = { state: 'down', reason: 'nobody there' };
    last().listener.onEnd(unreachable('a'));
    expect(last().id).toBe('b/m');
    finish();
    void submit();
    expect(last().id).toBe('b/m');
    finish();
    expect(balancer.upstreams().map(({ state }) => state)).toEqual(['down', 'ready']);
    looks['a'] = ready;
    await clock.advance(limits.downMs);
    void submit(target('a'));
    finish();
    expect(balancer.upstreams().map(({ state }) => state)).toEqual(['ready', 'ready']);
  });

  it('a model that vanished from all lists is a 404 that names the upstreams', async () => {
    void submit();
    finish();
    models = { a: ['other'], b: ['other'] };
    await clock.advance(2 * limits.idleProbeMs);
    expect(await submit()).toMatchObject({ code: 'upstream_model_gone', detail: { upstream: 'a, b' } });
    models = {};
    await clock.advance(2 * limits.modelsMs);
    void submit();
    expect(sent).toHaveLength(2);
  });

  it('when all are down the refusal says so, and when to come again', async () => {
    looks = { a: { state: 'down', reason: '' }, b: { state: 'down', reason: '' } };
    const first = submit();
    last().listener.onEnd(unreachable('a'));
    last().listener.onEnd(unreachable('b'));
    expect(await first).toMatchObject({ code: 'upstream_unreachable', detail: { upstream: 'b' } });
    expect(await submit()).toMatchObject({
      code: 'upstreams_down',
      detail: { states: 'a: connect, b: connect' },
    });
  });

  it('one without an alternative is tried all the same', () => {
    void submit(target('a'));
    last().listener.onEnd(unreachable('a'));
    void submit(target('a'));
    expect(sent).toHaveLength(2);
  });
});
