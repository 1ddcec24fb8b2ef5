import { SCORED_ROWS } from '../../contract/limits.ts';
import type { LoadSpec } from '../../contract/load.ts';
import type { ContextSize } from '../../contract/memory.ts';
import type {
  ContextOptions,
  LoadOptions,
  NativeAdapter,
  NativeBackend,
  NativeContext,
  NativeModel,
  NativeProjector,
} from '../native.ts';
import type { ChatModel } from '../model.ts';
import { EXACT_LOAD, isExact } from '../../contract/settings/exact-rules.ts';
import { isQuantisedModel, prepareExact, provenSteps } from './exact.ts';
import { openWriters } from './writers.ts';
import { loadOptions, usesDevices } from './load-options.ts';
import { commonFacts, loadFailure, type OnProgress, throttled } from './load.ts';
import { placedLoads } from './placement.ts';
import { threadsFor, tuneThreads } from './threads.ts';
import { randomBytes } from 'node:crypto';
import { errorMessage } from '../../lib/errors/svc-error.ts';
import { MediaEncoder } from '../media/media-encoder.ts';
import type { MediaInput } from '../media/read-media.ts';

/** Rows of one native call; more gains nothing on a CPU and costs memory. */
const BATCH_TOKENS = 512;

export async function loadChat(
  backend: NativeBackend,
  spec: LoadSpec,
  onProgress: OnProgress,
): Promise<ChatModel> {
  try {
    if (isExact(spec.settings)) await prepareExact(backend, spec);
    const options = loadOptions(backend, spec);
    const whole = spec.numCtx * spec.parallel;
    // Sequences that share cells get slightly different sums next to others, so they share only to save memory.
    const exact = isExact(spec.settings) ? EXACT_LOAD : null;
    const unified = exact?.unified ?? spec.cells < whole;
    const cells = unified ? spec.cells : whole;
    const contextOptions = chatContext(options, {
      sequences: spec.parallel,
      cells,
      threads: threadsFor(backend, spec),
      draftTokens: spec.draftTokens,
      unified,
    });
    const [placed] = await placedLoads(backend, { spec, options }, [[contextOptions]]);
    const model = await backend.openModel(spec.path, placed?.options ?? options, throttled(onProgress));
    const { vocabulary } = model;
    const writers = openWriters(spec, { vocabulary, ...model.facts });
    const adapters = new Map<string, NativeAdapter>();
    for (const { name, path } of spec.adapters) adapters.set(name, await model.openAdapter(path));
    const context = await model.newContext(contextOptions);
    const draftContext = await openDraft(backend, { spec, options }, contextOptions);
    const { holds } = model.facts.past;
    const isWhole = holds === 'every token' || (exact?.wholeWindows === true && holds === 'window');
    const prefixReuse = isWhole ? 'full' : 'checkpoints';
    const steps =
      exact === null
        ? undefined
        : provenSteps({
            context,
            spec,
            vocabulary,
            past: model.facts.past,
            quantised: await isQuantisedModel(spec.path),
          });
    const mediaInput = await openMediaInput(backend, spec, { model, exact: exact !== null });
    const tuned = await tuneThreads(backend, spec, { context, tokens: 1 });
    return {
      spec,
      backend,
      model,
      vocabulary,
      context,
      adapters,
      draftContext,
      sharedCells: unified ? cells : null,
      prefixReuse,
      ...(steps !== undefined && { exact: steps }),
      ...(mediaInput !== null && { mediaInput: mediaInput.mediaInput }),
      ...writers,
      facts: {
        ...commonFacts(model, [context], mediaInput?.bytes),
        ...tuned,
        numCtx: spec.numCtx,
        sequences: spec.parallel,
        cells,
      },
    };
  } catch (error) {
    throw loadFailure(spec, error, backend.isOutOfMemory);
  }
}

export function chatContext(
  options: LoadOptions,
  {
    cells,
    sequences,
    threads,
    draftTokens,
    unified,
  }: ContextSize & Pick<ContextOptions, 'threads'> & Pick<LoadSpec, 'draftTokens'>,
): ContextOptions {
  const { flashAttention, keyType, valueType, rope, wholeWindows } = options;
  return {
    sequences,
    numCtx: unified ? cells : cells / sequences,
    unified,
    batchTokens: BATCH_TOKENS,
    // Exact loads keep the whole past of every layer, and divide calls by their own rules.
    microBatchTokens: wholeWindows === true ? EXACT_LOAD.microBatchTokens : null,
    ...(wholeWindows !== undefined && { wholeWindows }),
    // Logits of a scored prompt come with the ends of others.
    logitRows: Math.min(BATCH_TOKENS, Math.max(sequences * (1 + draftTokens), SCORED_ROWS + sequences)),
    threads,
    flashAttention,
    keyType,
    valueType,
    rope,
    embeddings: false,
  };
}

async function openDraft(
  backend: NativeBackend,
  { spec, options }: { readonly spec: LoadSpec; readonly options: LoadOptions },
  context: ContextOptions,
): Promise<NativeContext | null> {
  if (spec.draft === null) return null;
  const own = { ...options, tensorBuffers: [], keyType: null, valueType: null, rope: null };
  const model = await backend.openModel(spec.draft.path, own, () => undefined);
  return model.newContext({ ...context, keyType: null, valueType: null, rope: null, logitRows: 1 });
}

interface OpenedMediaInput {
  readonly mediaInput: MediaInput;
  readonly bytes: number;
}

async function openMediaInput(
  backend: NativeBackend,
  spec: LoadSpec,
  { model, exact }: { readonly model: NativeModel; readonly exact: boolean },
): Promise<OpenedMediaInput | null> {
  const { projector, modelId, settings } = spec;
  if (projector === undefined) return null;
  const none = (reason: string, remedy: string): OpenedMediaInput => ({
    mediaInput: { reason, remedy },
    bytes: 0,
  });
  if (exact) {
    return none(
      'it is loaded so that the same request always gets the same answer, which holds for text',
      `run: hearth set ${modelId} exact=`,
    );
  }
  if (!backend.readsMedia) {
    return none(
      'the library that reads images and audio is not installed',
      'run: hearth library build --media, then restart the service',
    );
  }
  const before = process.memoryUsage.rss();
  let opened: NativeProjector;
  try {
    opened = await model.openProjector(projector.path, {
      threads: spec.threads ?? backend.facts.cpuMathCores,
      onGpu: usesDevices(backend, settings),
    });
  } catch (error) {
    return none(
      `its projector cannot be used (${errorMessage(error)})`,
      'install the model again with the projector that was made for it',
    );
  }
  const bytes = Math.max(0, process.memoryUsage.rss() - before);
  // Without a digest nothing is found again after a restart.
  const digest = projector.digest ?? randomBytes(32).toString('hex');
  return { mediaInput: new MediaEncoder(opened, digest), bytes };
}
