import { open, stat } from 'node:fs/promises';
import koffi from 'koffi';
import { AdapterHandle } from './adapter.ts';
import { Candidates } from './sampling/candidates.ts';
import { ContextHandle } from './context.ts';
import { LOAD_MODES, enumName, POOLINGS } from '../../../packages/llama-api/src/enums.ts';
import { type ContextParams, type Pointer, ProgressCallback } from './library/layouts.ts';
import { onThread } from './library/on-thread.ts';
import type { Library } from './library/open.ts';
import { partFiles } from '../../../packages/gguf/src/format/parts.ts';
import { type DeviceBytes, noMemoryLine } from '../../contract/memory.ts';
import type {
  ContextOptions,
  ModelFacts,
  ModelOptions,
  NativeAdapter,
  NativeContext,
  ModelTemplates,
  ModelTexts,
  NativeModel,
  NativeProjector,
  PastState,
  ProjectorOptions,
} from '../native.ts';
import { contextParams, type HeldParams, isMapping, modelParams, type Native } from './params.ts';
import { ProjectorHandle } from './projector.ts';
import { SamplerHandle, type SamplingRoom } from './sampling/sampler-handle.ts';
import { TokenGrammars } from './sampling/token-grammar.ts';
import { openVocabulary } from './vocabulary.ts';

const outOfMemory = new WeakSet<Error>();

export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && outOfMemory.has(error);
}

interface ModelFile {
  readonly path: string;
  readonly options: ModelOptions;
}

export async function openModel(
  native: Native,
  { path, options }: ModelFile,
  onProgress: () => void,
): Promise<NativeModel> {
  await checkHeader(path);
  const report = koffi.register(() => {
    onProgress();
    return true;
  }, koffi.pointer(ProgressCallback));
  try {
    const { params, held } = modelParams(native, options);
    const model = await loadModel(native, path, { params: { ...params, progress_callback: report }, held });
    return nativeModel(native, model, options);
  } finally {
    koffi.unregister(report);
  }
}

export async function openTexts(native: Native, path: string): Promise<ModelTexts> {
  await checkHeader(path);
  const { library } = native;
  const params = { ...library.llama_model_default_params(), n_gpu_layers: 0, vocab_only: true };
  const model = await loadModel(native, path, { params, held: [] });
  const vocabulary = openVocabulary(library, library.llama_model_get_vocab(model));
  return { vocabulary, ...modelTemplates(library, model) };
}

export async function measure(
  native: Native,
  { path, options }: ModelFile,
  contexts: readonly ContextOptions[],
): Promise<(readonly DeviceBytes[])[]> {
  await checkHeader(path);
  const { params, held } = modelParams(native, options);
  const file = { params: { ...params, no_alloc: true, load_mode: LOAD_MODES.none }, held };
  const model = await loadModel(native, path, file);
  try {
    const found: (readonly DeviceBytes[])[] = [];
    const isMapped = params.n_gpu_layers === 0 && isMapping(params.load_mode);
    const mappedBytes = isMapped ? await fileBytes(path) : 0;
    for (const context of contexts) {
      const opened = { options: context, mappedBytes };
      found.push(await measureContext(native, model, opened));
    }
    return found;
  } finally {
    native.library.llama_model_free(model);
  }
}

async function fileBytes(path: string): Promise<number> {
  const found = await Promise.all(partFiles(path).map((part) => stat(part)));
  return found.reduce((sum, { size }) => sum + size, 0);
}

async function measureContext(
  native: Native,
  model: Pointer,
  { options, mappedBytes }: { readonly options: ContextOptions; readonly mappedBytes: number },
): Promise<readonly DeviceBytes[]> {
  const context = await initContext(native, model, contextParams(native.library, options));
  try {
    const bytes = native.readMemory(context, mappedBytes);
    if (bytes === null) throw new Error('this build of llama.cpp does not say what a model would take');
    return bytes;
  } finally {
    native.library.llama_free(context);
  }
}

/** Parameters point to memory that is read while a model loads, and again by its contexts: it is never freed. */
const heldForever: object[] = [];

async function loadModel(
  { library, log }: Native,
  path: string,
  { params, held }: HeldParams,
): Promise<Pointer> {
  log.clear();
  heldForever.push(...held);
  const model = await onThread<Pointer | null>((done) =>
    library.llama_model_load_from_file.async(path, params, done),
  );
  if (model !== null) return model;
  const error = new Error(log.reason('llama.cpp could not load the file'));
  if (noMemoryLine(error.message) !== null) outOfMemory.add(error);
  throw error;
}

async function initContext(native: Native, model: Pointer, params: ContextParams): Promise<Pointer> {
  native.log.clear();
  const { llama_init_from_model: init } = native.library;
  return opened(native, await onThread<Pointer | null>((done) => init.async(model, params, done)));
}

/** llama.cpp refuses a context only for lack of memory. */
function opened({ log }: Native, context: Pointer | null): Pointer {
  if (context === null) {
    const error = new Error(log.reason('llama.cpp could not open a context'));
    outOfMemory.add(error);
    throw error;
  }
  return context;
}

function nativeModel(native: Native, model: Pointer, options: ModelOptions): NativeModel {
  const { library } = native;
  const vocab = library.llama_model_get_vocab(model);
  const vocabulary = openVocabulary(library, vocab);
  const candidates = new Candidates(vocabulary.size);
  const grammars = new TokenGrammars(vocabulary.texts);
  const room: SamplingRoom = { library, vocab, vocabularySize: vocabulary.size, candidates };
  return {
    facts: modelFacts(native, model, options),
    vocabulary,
    newContext: (contextOptions) => openContext(native, room, { model, options: contextOptions }),
    openAdapter: (path) => openAdapter(native, model, path),
    openProjector: (path, projectorOptions) =>
      openProjector(native, model, { path, options: projectorOptions }),
    newSampler: () => new SamplerHandle(room),
    newGrammar: (gbnf) => grammars.open(gbnf),
  };
}

async function openAdapter({ library, log }: Native, model: Pointer, path: string): Promise<NativeAdapter> {
  log.clear();
  const pointer = await onThread<Pointer | null>((done) =>
    library.llama_adapter_lora_init.async(model, path, done),
  );
  if (pointer === null) throw new Error(log.reason('llama.cpp could not open the adapter'));
  return new AdapterHandle(path, pointer);
}

async function openProjector(
  { library, media, log, hasGpu }: Native,
  model: Pointer,
  { path, options }: { readonly path: string; readonly options: ProjectorOptions },
): Promise<NativeProjector> {
  if (media === null) throw new Error('the library that reads images is not here');
  log.clear();
  const params = {
    ...media.mtmd_context_params_default(),
    use_gpu: hasGpu && options.onGpu,
    n_threads: options.threads,
    print_timings: false,
    warmup: false,
  };
  const pointer = await onThread<Pointer | null>((done) =>
    media.mtmd_init_from_file.async(path, model, params, done),
  );
  if (pointer === null) throw new Error(log.reason('libmtmd could not open the projector'));
  return new ProjectorHandle({ library: media, log, pointer, width: library.llama_model_n_embd_inp(model) });
}

async function openContext(
  native: Native,
  { vocabularySize }: SamplingRoom,
  { model, options }: { readonly model: Pointer; readonly options: ContextOptions },
): Promise<NativeContext> {
  const { library, threadpool, readMemory } = native;
  const withThreads = (context: Pointer): Pointer => {
    if (threadpool !== null && !options.ownThreads)
      library.llama_attach_threadpool(context, threadpool, threadpool);
    return context;
  };
  const pointer = withThreads(await initContext(native, model, contextParams(library, options)));
  // A model that names no pooling is not pooled, even if it generates.
  const pooling = enumName(POOLINGS, library.llama_pooling_type(pointer)) ?? 'none';
  return new ContextHandle({
    library,
    pointer,
    vocabularySize,
    rowWidth: library.llama_model_n_embd_inp(model),
    pooling,
    embeddingWidth:
      pooling === 'rank' ? library.llama_model_n_cls_out(model) : library.llama_model_n_embd_out(model),
    attention: options,
    openAgain: ({ flashAttention, microBatchTokens }) => {
      native.log.clear();
      const params = contextParams(library, { ...options, flashAttention, microBatchTokens });
      return withThreads(opened(native, library.llama_init_from_model(model, params)));
    },
    embeddings: options.embeddings,
    logitRows: options.logitRows,
    readMemory,
    spareSequence: options.unified ? spareSequence(library, options.sequences) : null,
  });
}

function spareSequence(library: Library, sequences: number): number | null {
  return sequences < library.llama_max_parallel_sequences() ? sequences : null;
}

function modelFacts({ library, hasGpu }: Native, model: Pointer, options: ModelOptions): ModelFacts {
  const layers = library.llama_model_n_layer(model) + 1;
  return {
    weightsBytes: library.llama_model_size(model),
    trainedCtx: library.llama_model_n_ctx_train(model),
    embeddingWidth: library.llama_model_n_embd_out(model),
    gpuLayers: gpuLayerCount(options, hasGpu ? layers : 0),
    usesMmap: options.loadMode === null || options.loadMode.startsWith('mmap'),
    ...modelTemplates(library, model),
    rerankTemplate: metadataText(library, model, 'tokenizer.chat_template.rerank'),
    past: pastState(library, model),
    ropeCtx: ropeCtx(library, model),
  };
}

function modelTemplates(library: Library, model: Pointer): ModelTemplates {
  return {
    chatTemplate: metadataText(library, model, 'tokenizer.chat_template'),
    toolTemplate: metadataText(library, model, 'tokenizer.chat_template.tool_use'),
  };
}

function metadataText(library: Library, model: Pointer, key: string): string | null {
  const length = library.llama_model_meta_val_str(model, key, null, 0);
  if (length < 0) return null;
  const text = new Uint8Array(length + 1);
  library.llama_model_meta_val_str(model, key, text, text.length);
  return Buffer.from(text.subarray(0, length)).toString('utf8');
}

/** Models with two sets of rotation factors (LongRoPE) choose by this length; for others it changes nothing. */
function ropeCtx(library: Library, model: Pointer): number | null {
  const architecture = metadataText(library, model, 'general.architecture') ?? '';
  const length = metadataText(library, model, `${architecture}.rope.scaling.original_context_length`);
  return length === null ? null : Number(length);
}

function pastState(library: Library, model: Pointer): PastState {
  const window = library.llama_model_n_swa(model);
  if (library.llama_model_is_recurrent(model) || library.llama_model_is_hybrid(model))
    return { holds: 'summary', ...(window > 0 && { also: 'window' as const }) };
  return window > 0 ? { holds: 'window', tokens: window } : { holds: 'every token' };
}

function gpuLayerCount({ devices, gpuLayers }: ModelOptions, most: number): number {
  if (devices?.length === 0) return 0;
  return typeof gpuLayers === 'number' ? Math.min(gpuLayers, most) : most;
}

const HEADER_BYTES = 24;
const LEAST_ENTRY_BYTES = 13n;
const LEAST_TENSOR_BYTES = 32n;

/**
 * Quick check of a GGUF header. The server checks files before; but one damaged since then, or a file of another
 * kind, would keep the library's reader busy until it is aborted a minute later.
 */
async function checkHeader(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const header = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
    if (bytesRead < HEADER_BYTES) throw new Error('the file is too short to be a GGUF model');
    if (header.toString('latin1', 0, 4) !== 'GGUF') throw new Error('the file does not begin with "GGUF"');
    const version = header.readUInt32LE(4);
    if (version !== 2 && version !== 3) throw new Error(`GGUF version ${version} is not supported`);
    const least =
      header.readBigUInt64LE(8) * LEAST_TENSOR_BYTES + header.readBigUInt64LE(16) * LEAST_ENTRY_BYTES;
    if (least > BigInt(size)) throw new Error('the file is shorter than its own table of contents');
  } finally {
    await file.close();
  }
}
