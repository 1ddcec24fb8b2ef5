/**
 * A second kind of engine: it repeats the last message, in this very process. It has no files, no child process and no
 * memory to plan, and all that the rest of the server knows of it is in server/engine/ports.ts.
 */
import { setImmediate } from 'node:timers/promises';
import { NO_DEFAULTS } from '../../../src/server/api/remote-models/remote-models.ts';
import type { Models, ServedModel } from '../../../src/server/api/models/served-model.ts';
import type { Job } from '../../../src/contract/job.ts';
import type {
  Backend,
  JobListener,
  LoadedModel,
  LoadSize,
  ModelTarget,
} from '../../../src/server/engine/ports.ts';
import { fail } from '../../../src/lib/errors/svc-error.ts';

export const ECHO_ENGINE = 'echo';
const WINDOW = 64;

export const echoBackend: Backend = {
  memoryNeed: () => null,
  load: async (_target, size) => loaded(size),
  close: async () => {},
};

function loaded(size: LoadSize): LoadedModel {
  let end: (how: { reason: null }) => void = () => {};
  const gone = new Promise<{ reason: null }>((resolve) => {
    end = resolve;
  });
  return {
    facts: { ...size, memory: [] },
    run: (job, signal, listener) => void answer(job, signal, listener),
    unload: async () => end({ reason: null }),
    gone,
  };
}

async function answer(job: Job, signal: AbortSignal, listener: JobListener): Promise<void> {
  if (job.kind !== 'generate' || job.prompt.kind !== 'chat') throw new Error(`${job.kind} is beyond an echo`);
  const words = wordsOf(job.prompt.turns.at(-1)?.content ?? '');
  const limit = job.maxTokens ?? WINDOW;
  let said = 0;
  await setImmediate();
  listener.onEvent({ type: 'started', promptTokens: words.length, cachedTokens: 0, numCtx: WINDOW });
  for (; said < Math.min(words.length, limit); said += 1) {
    await setImmediate();
    if (signal.aborted) return listener.onEnd(fail('cancelled'));
    listener.onEvent({ type: 'text', text: words[said] ?? '' });
  }
  listener.onEvent({
    type: 'done',
    finishReason: said < words.length ? 'length' : 'stop',
    usage: { promptTokens: words.length, cachedTokens: 0, completionTokens: said, reasoningTokens: 0 },
    timings: { prefillMs: 0, decodeMs: 0 },
  });
  listener.onEnd(null);
}

/** A word is a token here, and carries the blank before it. */
const wordsOf = (text: string): string[] => text.match(/\s*\S+/g) ?? [];

/** One model, called `echo`. */
export const echoModels: Models = {
  list: async () => [echo],
  find: async (name) => (name === 'default' ? echo : named(name)),
  resolve: async (name, kind) => {
    const model = await echoModels.find(name);
    if (model.kind === kind) return model;
    throw fail('wrong_model_kind', { model: name, kind: model.kind, use: 'embeddings', wanted: kind });
  },
  defaultId: async (kind) => (kind === 'chat' ? echo.id : null),
};

const target: ModelTarget = {
  modelId: 'echo',
  kind: 'chat',
  // A kind that only tests have.
  engine: ECHO_ENGINE as ModelTarget['engine'],
  capabilities: { canFreeze: false, canExplain: false, canTokenize: false, canRank: false },
  trainedCtx: WINDOW,
  defaultCtx: WINDOW,
  revision: '1',
  source: null,
};

const echo: ServedModel = {
  id: target.modelId,
  kind: target.kind,
  aliases: [],
  ownedBy: 'test',
  engine: ECHO_ENGINE,
  media: [],
  addedAt: '2026-01-01T00:00:00Z',
  architecture: 'echo',
  quant: null,
  parameterCount: null,
  contextLength: WINDOW,
  sizeBytes: 0,
  digest: null,
  pooling: null,
  name: null,
  embeddingWidth: 0,
  hasChatTemplate: true,
  reasoning: false,
  settings: {},
  defaults: NO_DEFAULTS,
  target: () => target,
  proof: null,
  template: null,
};

function named(name: string): ServedModel {
  if (name !== echo.id) throw fail('model_not_found', { model: name, param: 'model' });
  return echo;
}
