/** Loads one model and says what came of it. */
import { InsufficientMemoryError, type Llama, type LlamaContext, type LlamaModel } from 'node-llama-cpp';
import type { LoadedFacts, LoadSpec } from '../../contract/load.ts';
import { fail, isSvcError } from '../../lib/errors/svc-error.ts';
import { type CalibrationProbe, calibrate } from './calibrate.ts';
import { controlTexts } from '../prompt/client-text.ts';
import { thinkingMarks } from '../../lib/chat-template/thinking-marks.ts';
import { toolFormatOf } from '../../lib/chat-template/tool-families.ts';
import { checkHeader } from './gguf-header.ts';
import { type NativeContext, nativeContext } from './internals.ts';
import type { PromptWriter } from '../prompt/prompt.ts';
import { openTemplate } from '../prompt/template.ts';
import { openVocabulary, type Vocabulary } from './vocabulary.ts';

/** Rows of one native call; more gains nothing on a CPU and costs memory. */
export const BATCH_TOKENS = 512;
const PROGRESS_INTERVAL_MS = 100;
/** The library reads metadata in JavaScript and waits for ever at the end of a cut file. */
const METADATA_MS = 60_000;

export interface LoadedBase {
  readonly spec: LoadSpec;
  readonly facts: LoadedFacts;
  readonly model: LlamaModel;
  readonly vocabulary: Vocabulary;
}

/** A chat model, ready for the batch loop. */
export interface LoadedChat extends LoadedBase {
  readonly kind: 'chat';
  readonly native: NativeContext;
  readonly writer: PromptWriter;
  /** Whether KV state can be cut at any token, only at checkpoints, or not at all. */
  readonly prefixReuse: LoadedFacts['prefixReuse'];
}

export async function loadChat(
  llama: Llama,
  spec: LoadSpec,
  onProgress: (fraction: number) => void,
): Promise<LoadedChat> {
  const started = performance.now();
  try {
    const model = await openModel(llama, spec, onProgress);
    const vocabulary = openVocabulary(model);
    const template = openTemplate(model.fileInfo.metadata.tokenizer?.chat_template);
    const context = await model.createContext({
      sequences: spec.parallel,
      contextSize: spec.numCtx,
      batchSize: BATCH_TOKENS,
      threads: threadsFor(llama, spec),
      failedCreationRemedy: false,
    });
    const native = nativeContext(context);
    const tuned = await tuneThreads(llama, spec, native, 1);
    const prefixReuse = prefixReuseOf(model);
    const writer = { template, vocabulary, controls: controlTexts(vocabulary.controlTexts) };
    return {
      kind: 'chat',
      spec,
      model,
      vocabulary,
      native,
      prefixReuse,
      writer,
      facts: {
        ...commonFacts(model, context, native, spec, vocabulary),
        ...tuned,
        loadMs: performance.now() - started,
        templateSource: template.from,
        toolFormat: toolFormatOf(template.source),
        reasoning: thinkingMarks(template.source, vocabulary.controlTexts) !== null,
        prefixReuse,
      },
    };
  } catch (error) {
    throw loadFailure(spec, error);
  }
}

export async function openModel(
  llama: Llama,
  spec: LoadSpec,
  onProgress: (fraction: number) => void,
): Promise<LlamaModel> {
  await checkHeader(spec.path);
  const metadata = new AbortController();
  const timer = setTimeout(
    () => metadata.abort(new Error(`its metadata could not be read within ${METADATA_MS} ms`)),
    METADATA_MS,
  );
  const report = throttled(onProgress);
  try {
    return await llama.loadModel({
      modelPath: spec.path,
      useMmap: true,
      loadSignal: metadata.signal,
      onLoadProgress: (fraction) => {
        clearTimeout(timer);
        report(fraction);
      },
      ...(llama.gpu === false ? { gpuLayers: 0 } : {}),
    });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Measures the thread count unless it is pinned, known, or decided by a GPU; `tokens` is the size of a typical step.
 * It is part of the load because it is short, and because only the facts of a load are remembered.
 */
export async function tuneThreads(
  llama: Llama,
  spec: LoadSpec,
  native: NativeContext,
  tokens: number,
): Promise<Pick<LoadedFacts, 'threads' | 'calibration'>> {
  const known = spec.threads ?? spec.tunedThreads;
  if (known !== null || llama.gpu !== false)
    return { threads: known ?? native.getThreads(), calibration: [] };
  const step = new Uint32Array(tokens);
  const probe: CalibrationProbe = {
    async step(threads) {
      native.setThreads(threads);
      native.initBatch(tokens);
      native.addToBatch(0, 0, step, Uint32Array.of(tokens - 1));
      const started = performance.now();
      await native.decodeBatch();
      const ms = performance.now() - started;
      native.disposeSequence(0);
      return ms;
    },
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
  };
  const { threads, tried, quiet } = await calibrate(threadsFor(llama, spec), probe);
  native.setThreads(threads);
  // A result from a busy moment serves this load and is not reported, so that nobody keeps it.
  return { threads, calibration: quiet ? tried : [] };
}

/** All physical cores, unless the user or an earlier calibration says otherwise. */
export function threadsFor(llama: Llama, spec: LoadSpec): number {
  return spec.threads ?? spec.tunedThreads ?? Math.max(1, llama.cpuMathCores);
}

export function commonFacts(
  model: LlamaModel,
  context: LlamaContext,
  native: NativeContext,
  spec: LoadSpec,
  vocabulary: Vocabulary,
): LoadedFacts {
  const memory = native.getMemoryBreakdown();
  return {
    numCtx: context.contextSize,
    trainedCtx: model.trainContextSize,
    sequences: spec.parallel,
    threads: native.getThreads(),
    calibration: [],
    gpuLayers: model.gpuLayers,
    weightsBytes: model.size,
    contextBytes: memory.cpuRam + memory.gpuVram,
    residentBytes: process.memoryUsage.rss(),
    loadMs: 0,
    vocabSize: vocabulary.size,
    embeddingWidth: model.embeddingVectorSize,
    templateSource: 'none',
    toolFormat: 'none',
    reasoning: false,
    prefixReuse: 'none',
  };
}

/** The library's own words about a bad file are the best reason there is. */
export function loadFailure(spec: LoadSpec, error: unknown): Error {
  if (isSvcError(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  const code = isOutOfMemory(error) ? 'out_of_memory' : 'load_failed';
  return fail(code, { model: spec.modelId, reason: text.split('\n')[0] ?? text }, error);
}

/** The library reckons so beforehand, or llama.cpp finds no room for a context and does not say why. */
function isOutOfMemory(error: unknown): boolean {
  if (error instanceof InsufficientMemoryError) return true;
  return error instanceof Error && error.message === 'Failed to create context';
}

function prefixReuseOf(model: LlamaModel): LoadedFacts['prefixReuse'] {
  const { isRecurrent, isHybrid, swaSize } = model.fileInsights;
  return isRecurrent || isHybrid || (swaSize ?? 0) > 0 ? 'checkpoints' : 'full';
}

function throttled(report: (fraction: number) => void): (fraction: number) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (fraction) => {
    const now = performance.now();
    if (now - last < PROGRESS_INTERVAL_MS && fraction < 1) return;
    last = now;
    report(fraction);
  };
}
