import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { EMBEDDING_WIDTH, FEATURE_HASH_MODEL } from '../../../contract/limits.ts';
import type { JobEvent } from '../../../contract/job-event.ts';
import type { Engine } from '../../engine/ports.ts';
import { fail, isFailure } from '../../../lib/errors/svc-error.ts';
import { type Caller, newJobId } from '../caller.ts';
import { type Models, type ServedModel, weightsName } from '../models/served-model.ts';
import { runWhole } from '../run-whole.ts';
import { featureCount, featureHash, FEATURE_HASH_VERSION } from './feature-hash.ts';
import { inOrder, recordedVectors, type RecordedVectors } from './recorded.ts';
import { type NamedTexts, refuse } from './texts.ts';
import { fitted, type WidthFacts } from './width.ts';

export interface VectorPorts {
  readonly models: Pick<Models, 'resolve' | 'defaultId'>;
  readonly engine: Pick<Engine, 'submit'>;
  readonly options: { readonly allowHashEmbeddings: boolean };
}

export interface VectorsAsked extends NamedTexts {
  readonly model: string;
  readonly outputWidth: (model: WidthFacts) => number;
  readonly truncate: boolean;
  readonly keepAlive: string | number | null | undefined;
  readonly caller: Caller;
  readonly accounts?: boolean;
}

export interface Vectors {
  readonly model: string;
  readonly backend: 'native' | 'feature-hash';
  readonly space: string;
  /** In the order of the texts; each vector has length one. */
  readonly items: readonly { readonly vector: Float32Array; readonly truncated: boolean }[];
  readonly tokens: number;
  readonly account?: RecordedVectors;
}

export async function computeVectors(ports: VectorPorts, asked: VectorsAsked): Promise<Vectors> {
  const { models, engine, options } = ports;
  const { allowHashEmbeddings } = options;
  if (allowHashEmbeddings && asked.model === FEATURE_HASH_MODEL) return hashVectors(asked);
  try {
    return await modelVectors(engine, await vectorModel(models, asked.model), asked);
  } catch (error) {
    // The fallback replaces only a default model that cannot run at all, never a model requested by name.
    const cannotRun = isFailure(error, 'no_default_model', 'native_unavailable', 'files_changed');
    const namesDefault =
      asked.model === DEFAULT_MODEL || asked.model === (await models.defaultId('embedding'));
    if (allowHashEmbeddings && cannotRun && namesDefault) return hashVectors(asked);
    throw error;
  }
}

export async function vectorModel(models: VectorPorts['models'], name: string): Promise<ServedModel> {
  try {
    const model = await models.resolve(name, 'embedding');
    if (model.pooling !== 'rank') return model;
    const wanted = { use: 'embeddings', wanted: 'embedding', param: 'model' };
    throw fail('wrong_model_kind', { model: model.id, kind: 'rerank', ...wanted });
  } catch (error) {
    if (name === DEFAULT_MODEL || !isFailure(error, 'model_not_found')) throw error;
    throw fail('model_not_found', { ...error.detail, instead: DEFAULT_MODEL });
  }
}

const DEFAULT_MODEL = 'default-embedding';

const HASHED: WidthFacts = {
  id: FEATURE_HASH_MODEL,
  name: null,
  architecture: '',
  embeddingWidth: EMBEDDING_WIDTH,
};

async function hashVectors({
  texts,
  inputName,
  outputWidth,
  caller: { signal },
}: VectorsAsked): Promise<Vectors> {
  outputWidth(HASHED);
  const pause = async (): Promise<void> => {
    await setImmediate();
    if (signal.aborted) throw fail('cancelled');
  };
  const items: { vector: Float32Array; truncated: boolean }[] = [];
  let tokens = 0;
  for (const [index, text] of texts.entries()) {
    if (typeof text !== 'string')
      refuse(`${inputName(index)} must be text: ${FEATURE_HASH_MODEL} has no vocabulary.`, inputName(index));
    items.push({ vector: await featureHash(text, pause), truncated: false });
    tokens += await featureCount(text, pause);
    await pause();
  }
  return { model: FEATURE_HASH_MODEL, backend: 'feature-hash', space: FEATURE_HASH_VERSION, items, tokens };
}

export async function modelVectors(
  engine: VectorPorts['engine'],
  model: ServedModel,
  asked: VectorsAsked,
): Promise<Vectors> {
  const { embeddingWidth } = model;
  if (embeddingWidth !== null) asked.outputWidth({ ...model, embeddingWidth });
  const { items, ended } = inOrder(await embedded(engine, model, asked), asked.texts.length);
  const width = asked.outputWidth({ ...model, embeddingWidth: items[0]?.vector.length ?? 0 });
  const account = asked.accounts === true ? recordedVectors(items, ended, width) : undefined;
  const fit =
    account?.vectors ?? items.map(({ vector, truncated }) => ({ vector: fitted(vector, width), truncated }));
  return {
    model: model.id,
    backend: 'native',
    space: embeddingSpace(model, width),
    items: fit,
    tokens: ended.totalTokens,
    ...(account !== undefined && { account }),
  };
}

async function embedded(
  engine: VectorPorts['engine'],
  model: ServedModel,
  { texts, inputName, truncate, keepAlive, caller, accounts }: VectorsAsked,
): Promise<readonly JobEvent[]> {
  const trust = model.defaults.tokenIds === 'own' ? { trustsTokenIds: true as const } : {};
  const job = {
    kind: 'embed' as const,
    jobId: newJobId(caller),
    inputs: [...texts],
    truncate,
    ...trust,
    ...(accounts === true && { accounts }),
  };
  try {
    return await runWhole(engine, { model, job, caller, keepAlive });
  } catch (error) {
    throw inWordsOfRequest(error, inputName, model.id);
  }
}

function inWordsOfRequest(error: unknown, inputName: NamedTexts['inputName'], model: string): unknown {
  const named = <D extends { readonly index: number }>(detail: D) => ({
    ...detail,
    param: inputName(detail.index),
  });
  if (isFailure(error, 'input_too_long')) return fail('input_too_long', named(error.detail));
  if (isFailure(error, 'input_unreadable')) return fail('input_unreadable', named(error.detail));
  if (isFailure(error, 'token_ids_refused'))
    return fail('token_ids_refused', { ...named(error.detail), model });
  return error;
}

/** Equal for equal weights, pooling and normalisation; docs/embeddings.md defines it. */
function embeddingSpace(model: ServedModel, width: number): string {
  const weights = weightsName(model);
  const facts = `svc-embedding-space-1\n${weights}\n${model.pooling ?? 'none'}\nl2\n${width}\n`;
  return `space-${createHash('sha256').update(facts).digest('hex').slice(0, 32)}`;
}
