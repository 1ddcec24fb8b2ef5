import { isEncoder } from './architectures.ts';
import { FILE_TYPE_LABELS, POOLING_TYPE } from '../format/format.ts';
import type { Header } from '../format/header.ts';
import type { Lookup } from '../format/lookup.ts';
import type { ModelShape } from './shape-checks.ts';
import type { SplitPart } from './split-checks.ts';
import type { TensorInfo } from '../format/tensor-table.ts';

type Pooling = keyof typeof POOLING_TYPE;

export interface GgufFacts {
  readonly architecture: string;
  readonly name: string | undefined;
  readonly kind: 'chat' | 'embedding';
  readonly embeddingLength: number;
  readonly pooling: Pooling | undefined;
  readonly contextLength: number;
  readonly blockCount: number;
  /** Per layer, 0 for a layer without keys and values; determines the KV cache. */
  readonly headCountsKv: readonly number[];
  readonly keyLength: number;
  readonly valueLength: number;
  readonly vocabSize: number;
  /** Bytes of the experts in each layer of this file; empty without experts. */
  readonly expertBytes: readonly number[];
  /** Layers for multi-token prediction (MTP). */
  readonly mtpLayers: number;
  readonly quant: string;
  readonly parameterCount: number;
  readonly chatTemplate: string | undefined;
  readonly license: string | undefined;
  readonly sizeBytes: number;
  readonly tensorBytes: number;
  readonly headerSha256: string;
  readonly split: SplitPart | undefined;
}

interface Findings {
  readonly header: Header;
  readonly lookup: Lookup;
  readonly shape: ModelShape;
  readonly chatTemplate: string | undefined;
  readonly split: SplitPart | undefined;
  readonly sizeBytes: number;
}

export function collectFacts(findings: Findings): GgufFacts {
  const { header, lookup, shape, chatTemplate, split, sizeBytes } = findings;
  const pooling = readPooling(lookup, shape.architecture);
  return {
    architecture: shape.architecture,
    kind: isEncoder(shape.architecture) || (pooling ?? 'none') !== 'none' ? 'embedding' : 'chat',
    embeddingLength: shape.embeddingLength,
    contextLength: shape.contextLength,
    blockCount: shape.blockCount,
    headCountsKv: shape.headCountsKv,
    keyLength: shape.keyLength,
    valueLength: shape.valueLength,
    name: lookup.text('general.name'),
    license: lookup.text('general.license'),
    pooling,
    vocabSize: header.vocabulary.size,
    expertBytes: expertBytes(header),
    mtpLayers: lookup.count(`${shape.architecture}.nextn_predict_layers`, 0xffff_ffff) ?? 0,
    quant: quantLabel(header, lookup),
    parameterCount: Number(sum(header.tensors, (tensor) => tensor.elements)),
    tensorBytes: tensorBytes(header),
    chatTemplate,
    split,
    sizeBytes,
    headerSha256: header.sha256,
  };
}

export function tensorBytes(header: Header): number {
  return Number(sum(header.tensors, (tensor) => tensor.bytes));
}

const EXPERT_TENSOR = /^blk\.(\d+)\.ffn_\w+_(?:ch)?exps\./;

export function expertBytes({ tensors }: Pick<Header, 'tensors'>): number[] {
  const layers: number[] = [];
  for (const { name, bytes } of tensors) {
    const layer = EXPERT_TENSOR.exec(name)?.[1];
    if (layer === undefined) continue;
    while (layers.length <= Number(layer)) layers.push(0);
    layers[Number(layer)] = (layers[Number(layer)] ?? 0) + Number(bytes);
  }
  return layers;
}

function readPooling(lookup: Lookup, architecture: string): Pooling | undefined {
  const code = lookup.count(`${architecture}.pooling_type`, 0xffff_ffff);
  const names = Object.keys(POOLING_TYPE) as Pooling[];
  return names.find((name) => POOLING_TYPE[name] === code);
}

function quantLabel(header: Header, lookup: Lookup): string {
  const fileType = lookup.count('general.file_type', 0xffff_ffff);
  // llama.cpp sets bit 10 for a guessed type.
  const label = fileType === undefined ? undefined : FILE_TYPE_LABELS.get(fileType & ~1024);
  return label ?? dominantType(header.tensors);
}

function dominantType(tensors: readonly TensorInfo[]): string {
  const bytes = new Map<string, bigint>();
  for (const tensor of tensors)
    bytes.set(tensor.type.name, (bytes.get(tensor.type.name) ?? 0n) + tensor.bytes);
  return [...bytes].reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0];
}

function sum(tensors: readonly TensorInfo[], of: (tensor: TensorInfo) => bigint): bigint {
  return tensors.reduce((total, tensor) => total + of(tensor), 0n);
}
