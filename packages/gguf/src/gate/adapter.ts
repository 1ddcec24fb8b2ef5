/**
 * LoRA adapters: checks of their headers against conditions under which llama.cpp aborts, and against the tensors of
 * their base model.
 */
import type { Header } from '../format/header.ts';
import type { Lookup } from '../format/lookup.ts';
import type { TensorInfo } from '../format/tensor-table.ts';

export interface AdapterFacts {
  readonly kind: 'adapter';
  readonly architecture: string;
  readonly name: string | undefined;
  readonly license: string | undefined;
  /** Scaling at training; 0: not stated. */
  readonly alpha: number;
  readonly targets: readonly AdapterTarget[];
  readonly parameterCount: number;
  readonly sizeBytes: number;
  readonly tensorBytes: number;
}

interface AdapterTarget {
  readonly tensor: string;
  readonly dims: readonly [bigint, bigint];
}

export type TensorShapes = ReadonlyMap<string, readonly bigint[]>;

export function readAdapter(header: Header, lookup: Lookup, sizeBytes: number): AdapterFacts {
  const architecture = lookup.text('general.architecture');
  if (architecture === undefined || architecture === '')
    return lookup.refuse('general.architecture is missing');
  const type = (lookup.text('adapter.type') ?? '').slice(0, 40);
  if (type !== 'lora')
    return lookup.refuse(`it is an adapter of type ${JSON.stringify(type)}; only lora is supported`);
  if (lookup.entry('adapter.alora.invocation_tokens') !== undefined)
    return lookup.refuse('it is an activated LoRA adapter (aLoRA), which is not supported');
  const { tensors } = header;
  return {
    kind: 'adapter',
    architecture,
    name: lookup.text('general.name'),
    license: lookup.text('general.license'),
    alpha: readAlpha(lookup),
    targets: readTargets(tensors, lookup),
    parameterCount: Number(tensors.reduce((sum, { elements }) => sum + elements, 0n)),
    sizeBytes,
    tensorBytes: Number(tensors.reduce((sum, { bytes }) => sum + bytes, 0n)),
  };
}

/** Reason why the adapter does not fit a model of this architecture with these tensors; null if it fits. */
export function whyNotFits(
  { architecture, targets }: Pick<AdapterFacts, 'architecture' | 'targets'>,
  model: { readonly architecture: string; readonly tensors: TensorShapes },
): string | null {
  if (architecture !== model.architecture)
    return `it was made for the architecture ${architecture}, not ${model.architecture}`;
  for (const { tensor, dims } of targets) {
    const there = model.tensors.get(tensor);
    if (there === undefined) return `it changes the tensor "${tensor}", which the model does not have`;
    if (there[0] !== dims[0] || there[1] !== dims[1])
      return `it changes "${tensor}" as ${dims.join(' x ')}, which is ${there.join(' x ')} in the model`;
  }
  return null;
}

/** llama.cpp reads it as f32 without a type check and aborts otherwise. */
function readAlpha(lookup: Lookup): number {
  const alpha = lookup.entry('adapter.lora.alpha');
  if (alpha === undefined) return 0;
  if (alpha.type !== 'f32')
    return lookup.refuse(`adapter.lora.alpha is stored as ${alpha.type} where f32 is required`);
  return Number('value' in alpha ? alpha.value : 0);
}

function readTargets(tensors: readonly TensorInfo[], lookup: Lookup): AdapterTarget[] {
  const pairs = new Map<string, { a?: TensorInfo; b?: TensorInfo }>();
  for (const tensor of tensors) {
    const [, name = '', side = ''] = /^(.+)\.lora_([ab])$/.exec(tensor.name) ?? [];
    if (name === '' && tensor.name.endsWith('_norm.weight')) continue;
    if (name === '') lookup.refuse(`tensor "${tensor.name}" does not belong to a LoRA adapter`);
    pairs.set(name, { ...pairs.get(name), [side]: tensor });
  }
  if (pairs.size === 0) lookup.refuse('it changes no tensor');
  return [...pairs].map(([tensor, { a, b }]) => {
    if (a === undefined || b === undefined)
      return lookup.refuse(`"${tensor}" has one of its two matrices only`);
    return { tensor, dims: targetDims(tensor, { a, b }, lookup) };
  });
}

/** A (row length first: in, rank) and B (rank, out) make a matrix of in x out; those of embeddings are swapped. */
function targetDims(
  tensor: string,
  { a, b }: { readonly a: TensorInfo; readonly b: TensorInfo },
  lookup: Lookup,
): readonly [bigint, bigint] {
  const [aIn = 1n, aOut = 1n] = a.dims;
  const [bIn = 1n, bOut = 1n] = b.dims;
  const isEmbedding = tensor.endsWith('token_embd.weight');
  if (isEmbedding ? aIn !== bIn : aOut !== bIn)
    lookup.refuse(`the two matrices of "${tensor}" have different ranks`);
  return isEmbedding ? [bOut, aOut] : [aIn, bOut];
}
