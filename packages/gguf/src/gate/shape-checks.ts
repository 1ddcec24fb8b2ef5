/**
 * Checks hyperparameters against each other and against conditions under which llama.cpp aborts or divides by zero
 * instead of reporting an error.
 */
import { isForeignTensor, memoryKind } from './architectures.ts';
import type { Header } from '../format/header.ts';
import { LIMITS } from '../format/limits.ts';
import type { Lookup } from '../format/lookup.ts';
import { isProjector } from './projector.ts';

export interface ModelShape {
  readonly architecture: string;
  readonly blockCount: number;
  readonly contextLength: number;
  readonly embeddingLength: number;
  readonly headCounts: readonly number[];
  readonly headCountsKv: readonly number[];
  readonly feedForwardLengths: readonly number[];
  readonly keyLength: number;
  readonly valueLength: number;
}

const ROPE_SCALING = new Set(['none', 'linear', 'yarn', 'longrope']);
const ARCHITECTURE = /^[a-z0-9][a-z0-9._-]*$/i;

export function readShape(lookup: Lookup): ModelShape {
  const architecture = readArchitecture(lookup);
  const key = (name: string): string => `${architecture}.${name}`;
  const blockCount = positive(lookup, key('block_count'), LIMITS.blockCount);
  const contextLength = positive(lookup, key('context_length'), LIMITS.contextLength);
  const embeddingLength = positive(lookup, key('embedding_length'), LIMITS.embeddingLength);
  checkNextTokenLayers(lookup, key('nextn_predict_layers'), blockCount);
  checkExperts(lookup, key, blockCount);
  checkRopeScaling(lookup, key('rope.scaling.type'));
  lookup.count(key('attention.sliding_window'), 0xffff_ffff);
  const heads = readHeads(lookup, key, { architecture, blockCount });
  const lengths = readHeadLengths(lookup, key, embeddingLength, heads.headCounts);
  checkRotation(lookup, key('rope.dimension_count'), architecture, lengths.keyLength);
  return {
    architecture,
    blockCount,
    contextLength,
    embeddingLength,
    ...heads,
    ...lengths,
    feedForwardLengths: lookup.perLayer(key('feed_forward_length'), blockCount, 0x7fff_ffff) ?? [],
  };
}

interface NamedTensors {
  readonly header: Header;
  readonly shape: ModelShape;
  /** A part of a split model may have no embeddings. */
  readonly isWholeModel: boolean;
  readonly lookup: Lookup;
}

export function checkTensorNames({ header, shape, isWholeModel, lookup }: NamedTensors): void {
  const { architecture, blockCount, embeddingLength } = shape;
  for (const { name } of header.tensors) {
    const layer = /^(?:enc\.|dec\.)?blk\.(\d+)\./.exec(name)?.[1];
    if (layer !== undefined && Number(layer) >= blockCount)
      lookup.refuse(`tensor "${name}" belongs to a layer beyond the ${blockCount} that the model has`);

    if (layer !== undefined) checkLayerHasSize(name, Number(layer), shape, lookup);
    if (isForeignTensor(architecture, name))
      lookup.refuse(`tensor "${name}" does not belong to the architecture "${architecture}"`);
  }
  if (isWholeModel && header.tensors.length === 0) lookup.refuse('it holds no tensors');
  if (!isWholeModel || architecture === 'wavtokenizer-dec') return;
  const embedding = header.tensors.find((tensor) => tensor.name === 'token_embd.weight');
  if (!embedding) return lookup.refuse('the tensor "token_embd.weight" is missing');
  const [width, rows = 1n] = embedding.dims;
  if (width !== BigInt(embeddingLength))
    lookup.refuse(`"token_embd.weight" is ${width} wide where embedding_length says ${embeddingLength}`);

  if (header.vocabulary.size > 0 && rows !== BigInt(header.vocabulary.size))
    lookup.refuse(`"token_embd.weight" has ${rows} rows for ${header.vocabulary.size} tokens`);
}

/** llama.cpp derives a tensor's shape from the settings and aborts if that gives zero. */
function checkLayerHasSize(name: string, layer: number, shape: ModelShape, lookup: Lookup): void {
  // Linear attention in hybrid models has these tensors but no heads of the usual kind.
  const isAttention = memoryKind(shape.architecture) === 'attention' && /\.attn_[qk]\.weight$/.test(name);
  if (isAttention && !((shape.headCounts[layer] ?? 0) > 0 && (shape.headCountsKv[layer] ?? 0) > 0))
    lookup.refuse(`tensor "${name}" belongs to a layer that is declared to have no attention heads`);

  if (/\.ffn_(up|gate|down)\.weight$/.test(name) && !((shape.feedForwardLengths[layer] ?? 0) > 0))
    lookup.refuse(`tensor "${name}" needs ${shape.architecture}.feed_forward_length, which is missing or 0`);
}

function readArchitecture(lookup: Lookup): string {
  const entry = lookup.entry('general.architecture');
  if (!entry) return lookup.refuse('general.architecture is missing');
  if (entry.type === 'string' && entry.bytes > LIMITS.architectureBytes)
    lookup.refuse(`general.architecture is ${entry.bytes} bytes long`);

  const architecture = lookup.text('general.architecture') ?? '';
  if (!ARCHITECTURE.test(architecture)) lookup.refuse('general.architecture is not a name');
  const type = lookup.text('general.type');
  if (isProjector(lookup)) {
    lookup.refuse(
      'it is a vision or audio projector (mmproj), not a model; name the model, and this file with --projector',
    );
  }

  if (type === 'adapter') lookup.refuse('it is a LoRA adapter, not a model');
  if (type === 'imatrix') lookup.refuse('it is an importance matrix for quantisation, not a model');
  return architecture;
}

function positive(lookup: Lookup, key: string, most: number): number {
  const value = lookup.count(key, most);
  if (value === undefined) return lookup.refuse(`${key} is missing`);
  return value > 0 ? value : lookup.refuse(`${key} is 0`);
}

function checkNextTokenLayers(lookup: Lookup, key: string, blockCount: number): void {
  const layers = lookup.count(key, 0xffff_ffff) ?? 0;
  if (layers >= blockCount) lookup.refuse(`${key} is ${layers}, not fewer than the ${blockCount} layers`);
}

function checkExperts(lookup: Lookup, key: (name: string) => string, blockCount: number): void {
  const experts = lookup.count(key('expert_count'), LIMITS.expertCount) ?? 0;
  const used = Math.max(0, ...(lookup.perLayer(key('expert_used_count'), blockCount, 0xffff_ffff) ?? []));
  const groups = lookup.count(key('expert_group_count'), 0xffff_ffff) ?? 0;
  const usedGroups = lookup.count(key('expert_group_used_count'), 0xffff_ffff) ?? 0;
  if (used > experts) lookup.refuse(`it uses ${used} experts of only ${experts}`);
  if (experts > 0 && used === 0) lookup.refuse(`it has ${experts} experts but uses none`);
  if (groups > 0 && groups >= experts) lookup.refuse(`it divides ${experts} experts into ${groups} groups`);
  if (groups > 1 && (experts % groups !== 0 || usedGroups === 0 || usedGroups >= groups))
    lookup.refuse(`it uses ${usedGroups} of ${groups} groups of ${experts} experts, which is impossible`);
}

function checkRopeScaling(lookup: Lookup, key: string): void {
  const type = lookup.text(key);
  if (type !== undefined && !ROPE_SCALING.has(type)) {
    lookup.refuse(
      `${key} is ${JSON.stringify(type.slice(0, 40))}; ${[...ROPE_SCALING].join(', ')} are known`,
    );
  }
}

interface Heads {
  readonly headCounts: readonly number[];
  readonly headCountsKv: readonly number[];
}

function readHeads(
  lookup: Lookup,
  key: (name: string) => string,
  model: { readonly architecture: string; readonly blockCount: number },
): Heads {
  const { architecture, blockCount } = model;
  const headCounts = lookup.perLayer(key('attention.head_count'), blockCount, LIMITS.headCount) ?? [];
  const headCountsKv =
    lookup.perLayer(key('attention.head_count_kv'), blockCount, LIMITS.headCount) ?? headCounts;
  // Recurrent models have no attention heads; hybrid ones have none in some layers.
  if (memoryKind(architecture) === 'attention' && !headCounts.some((heads) => heads > 0))
    lookup.refuse(`${key('attention.head_count')} is missing or 0`);

  headCounts.forEach((heads, layer) => {
    const headsKv = headCountsKv[layer] ?? 0;
    if (heads > 0 && headsKv > 0 && heads % headsKv !== 0)
      lookup.refuse(`${heads} attention heads cannot share ${headsKv} key-value heads`);
  });
  return { headCounts, headCountsKv };
}

function readHeadLengths(
  lookup: Lookup,
  key: (name: string) => string,
  embeddingLength: number,
  headCounts: readonly number[],
): Pick<ModelShape, 'keyLength' | 'valueLength'> {
  const keyLength = lookup.count(key('attention.key_length'), LIMITS.embeddingLength);
  const valueLength = lookup.count(key('attention.value_length'), LIMITS.embeddingLength);
  const heads = headCounts.find((count) => count > 0);
  if (heads === undefined) return { keyLength: keyLength ?? 0, valueLength: valueLength ?? 0 };
  if (keyLength === 0 || valueLength === 0) lookup.refuse('its attention heads have no width');
  const share = embeddingLength / heads;
  if ((keyLength === undefined || valueLength === undefined) && !Number.isInteger(share))
    lookup.refuse(`embedding_length ${embeddingLength} cannot be divided among ${heads} heads`);

  return { keyLength: keyLength ?? share, valueLength: valueLength ?? share };
}

function checkRotation(lookup: Lookup, key: string, architecture: string, keyLength: number): void {
  const dimensions = lookup.count(key, LIMITS.embeddingLength);
  if (dimensions === undefined || keyLength === 0) return;
  if (dimensions % 2 !== 0 || dimensions > keyLength)
    lookup.refuse(`${key} is ${dimensions}, which does not fit heads of ${keyLength}`);

  if (architecture === 'llama' && dimensions !== keyLength)
    lookup.refuse(`${key} is ${dimensions} where heads are ${keyLength} wide`);
}
