/** A model of node-llama-cpp behind the page. */
import type { KvType } from '../../contract/settings/kv-types.ts';
import { type GgmlType, InsufficientMemoryError, type Llama, type LlamaModel } from 'node-llama-cpp';
import { ContextHandle } from './context.ts';
import { checkHeader } from './gguf-header.ts';
import { plainContext } from './internals.ts';
import type {
  ContextOptions,
  LoadOptions,
  ModelFacts,
  ModelOptions,
  NativeModel,
  PastState,
} from './native.ts';
import { GrammarHandle, ProbeHandle, SamplerHandle } from './sampler-handle.ts';
import { openVocabulary } from './vocabulary.ts';

/** The library reads metadata in JavaScript and waits without end where a file is cut off. */
const METADATA_MS = 60_000;

export async function openModel(
  llama: Llama,
  { path, options }: { readonly path: string; readonly options: ModelOptions },
  onProgress: () => void,
): Promise<NativeModel> {
  await checkHeader(path);
  const metadata = new AbortController();
  const timer = setTimeout(
    () => metadata.abort(new Error(`its metadata could not be read within ${METADATA_MS} ms`)),
    METADATA_MS,
  );
  try {
    const model = await llama.loadModel({
      modelPath: path,
      ...memoryOf(options),
      loadSignal: metadata.signal,
      onLoadProgress: () => {
        clearTimeout(timer);
        onProgress();
      },
      ...layersOf(options, llama.gpu !== false),
    });
    return nativeModel(model);
  } finally {
    clearTimeout(timer);
  }
}

/** What the library's JavaScript has no name for. */
export function refusedOptions(options: LoadOptions): (keyof LoadOptions)[] {
  const { devices, splitMode, tensorSplit, mainGpu, tensorBuffers, rope } = options;
  const refused = {
    devices: devices !== null && devices.length > 0,
    splitMode: splitMode !== null,
    tensorSplit: tensorSplit !== null,
    mainGpu: mainGpu !== null,
    tensorBuffers: tensorBuffers.length > 0,
    rope: rope !== null,
  };
  return (Object.keys(refused) as (keyof typeof refused)[]).filter((name) => refused[name]);
}

function memoryOf({ loadMode }: ModelOptions): { useMmap: boolean; useMlock: boolean } {
  const mode = loadMode ?? 'mmap';
  return { useMmap: mode !== 'none' && mode !== 'mlock', useMlock: mode.endsWith('mlock') };
}

function layersOf({ devices, gpuLayers }: ModelOptions, hasGpu: boolean): { gpuLayers?: number | 'max' } {
  if (!hasGpu || devices?.length === 0) return { gpuLayers: 0 };
  if (gpuLayers === null) return {};
  return { gpuLayers: gpuLayers === 'all' ? 'max' : gpuLayers };
}

/** The library reckons so beforehand, or llama.cpp finds no room for a context and does not say why. */
export function isOutOfMemory(error: unknown): boolean {
  if (error instanceof InsufficientMemoryError) return true;
  return error instanceof Error && error.message === 'Failed to create context';
}

function nativeModel(model: LlamaModel): NativeModel {
  return {
    facts: modelFacts(model),
    vocabulary: openVocabulary(model),
    newContext: async (options) => new ContextHandle(await createContext(model, options)),
    async newEmbeddingContext({ numCtx, threads }) {
      // A whole input must fit into one micro-batch, as every token looks at every other.
      const options = { contextSize: numCtx, batchSize: numCtx, threads };
      return new ContextHandle(plainContext(await model.createEmbeddingContext(options)));
    },
    newSampler: () => new SamplerHandle(model),
    newProbe: (keeps) => new ProbeHandle(model, keeps),
    newGrammar: (gbnf) => new GrammarHandle(model, gbnf),
  };
}

function modelFacts(model: LlamaModel): ModelFacts {
  return {
    weightsBytes: model.size,
    trainedCtx: model.trainContextSize,
    embeddingWidth: model.embeddingVectorSize,
    gpuLayers: model.gpuLayers,
    usesMmap: model.useMmap,
    chatTemplate: model.fileInfo.metadata.tokenizer?.chat_template ?? null,
    past: pastState(model),
  };
}

function pastState({ fileInsights: { isRecurrent, isHybrid, swaSize } }: LlamaModel): PastState {
  if (isRecurrent || isHybrid) return { holds: 'summary' };
  return (swaSize ?? 0) > 0 ? { holds: 'window', tokens: swaSize ?? 0 } : { holds: 'every token' };
}

function createContext(model: LlamaModel, options: ContextOptions) {
  const { sequences, numCtx, batchTokens, threads, flashAttention, keyType, valueType } = options;
  return model.createContext({
    sequences,
    contextSize: numCtx,
    batchSize: batchTokens,
    threads,
    swaFullCache: false,
    // A smaller window than asked for would be another context.
    failedCreationRemedy: false,
    ...(flashAttention !== null && { flashAttention }),
    ...(keyType !== null && { experimentalKvCacheKeyType: addonType(keyType) }),
    ...(valueType !== null && { experimentalKvCacheValueType: addonType(valueType) }),
  });
}

const addonType = (type: KvType): keyof typeof GgmlType => type.toUpperCase() as keyof typeof GgmlType;
