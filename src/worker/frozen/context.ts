/** The context of one frozen run: pinned in everything that could change a bit of a logit, and freed after it. */
import type { FrozenExec } from '../../contract/frozen.ts';
import { fail, isSvcError, errorMessage } from '../../lib/errors/svc-error.ts';
import { EXACT_LOAD } from '../../contract/settings/exact-rules.ts';
import { type KvType, kvTypes } from '../../contract/settings/kv-types.ts';
import type { NativeContext } from '../native.ts';
import type { ChatModel } from '../model.ts';

/**
 * Rows of one prefill chunk: small enough that ordinary streams hardly notice the wait; the kernels gain little from
 * more.
 */
export const CHUNK_TOKENS = 64;
export const SEQUENCE = 0;
const SMALLEST_WINDOW = 1024;
/** llama.cpp pads windows to this. */
const WINDOW_STEP = 256;

/**
 * Off: flash attention splits the KV range by the number of threads and merges the parts, so other thread counts give
 * other logits from some hundred tokens on.
 */
const FLASH_ATTENTION = false;

const CACHE_TYPE = 'f16';

export interface FrozenContext {
  readonly context: NativeContext;
  readonly exec: Omit<FrozenExec, 'threadsObserved'>;
}

/** The smallest of 1024, 2048, 4096, … that holds `tokens`, at most the model's `window`. */
export function windowFor(tokens: number, window: number): number {
  const limit = Math.ceil(window / WINDOW_STEP) * WINDOW_STEP;
  let size = SMALLEST_WINDOW;
  while (size < tokens) size *= 2;
  return Math.min(size, limit);
}

export async function openFrozenContext(
  chat: ChatModel,
  pins: { readonly numCtx: number; readonly threads: number },
): Promise<FrozenContext> {
  const { model } = chat;
  if (model.facts.gpuLayers > 0) throw unavailable('the model has layers on a GPU');
  let context: NativeContext;
  try {
    context = await model.newContext({
      sequences: 1,
      numCtx: pins.numCtx,
      batchTokens: CHUNK_TOKENS,
      microBatchTokens: null,
      threads: pins.threads,
      unified: false,
      flashAttention: FLASH_ATTENTION,
      keyType: CACHE_TYPE,
      valueType: CACHE_TYPE,
      rope: null,
      logitRows: null,
      embeddings: false,
    });
  } catch (error) {
    if (isSvcError(error)) throw error;
    const reason = errorMessage(error);
    throw fail('evidence_unavailable', { reason: `no context of ${pins.numCtx} tokens: ${reason}` }, error);
  }
  context.setThreads(pins.threads);
  const frozen = { context, exec: contextExec(chat, context, pins.threads) };
  if (frozen.exec.numCtx !== pins.numCtx) {
    context.dispose();
    throw unavailable(`the context window is ${frozen.exec.numCtx} tokens instead of ${pins.numCtx}`);
  }
  return frozen;
}

/** Reads the thread count back; a run with another count than requested must not be signed. */
export function observedThreads(frozen: FrozenContext): number {
  const observed = frozen.context.getThreads();
  if (observed !== frozen.exec.threads)
    throw unavailable(`it ran with ${observed} threads instead of ${frozen.exec.threads}`);

  return observed;
}

export const unavailable = (reason: string): Error => fail('evidence_unavailable', { reason });

function contextExec(chat: ChatModel, context: NativeContext, threads: number): FrozenContext['exec'] {
  return {
    ...libraryExec(chat),
    numCtx: context.numCtx,
    batchSize: context.batchTokens,
    microBatchSize: context.batchTokens,
    sequences: 1,
    threads,
    flashAttention: context.flashAttention,
    typeK: recordedType(CACHE_TYPE),
    typeV: recordedType(CACHE_TYPE),
  };
}

export function libraryExec({
  backend,
  model,
  exact,
}: Pick<ChatModel, 'backend' | 'model' | 'exact'>): Pick<
  FrozenExec,
  'gpuLayers' | 'useMmap' | 'openMp' | 'repack'
> {
  const { systemInfo } = backend.facts;
  return {
    gpuLayers: model.facts.gpuLayers,
    useMmap: model.facts.usesMmap,
    openMp: /\bOPENMP = 1\b/.test(systemInfo),
    repack: exact === undefined && /\bREPACK = 1\b/.test(systemInfo),
  };
}

const recordedType = (type: KvType): string => type.toUpperCase();

export function exactExec(chat: ChatModel): FrozenExec {
  const { context, facts, spec } = chat;
  if (chat.exact === undefined) throw unavailable('the model is not loaded with exact=on');
  const { k, v } = kvTypes(spec.settings);
  const threads = context.getThreads();
  return {
    ...contextExec(chat, context, threads),
    lane: 'exact',
    microBatchSize: EXACT_LOAD.microBatchTokens,
    sequences: facts.sequences,
    threadsObserved: threads,
    typeK: recordedType(k),
    typeV: recordedType(v),
  };
}
