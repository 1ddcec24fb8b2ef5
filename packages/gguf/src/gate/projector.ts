/**
 * Projectors (mmproj): networks that turn images or audio into rows of a model's width. Checks against conditions
 * under which libmtmd aborts or divides by zero.
 */
import type { Header } from '../format/header.ts';
import type { Lookup } from '../format/lookup.ts';

export interface ProjectorFacts {
  /** libmtmd's name of the family; null if vision and audio have different ones. */
  readonly type: string | null;
  readonly seesImages: boolean;
  readonly hearsAudio: boolean;
  readonly name: string | undefined;
  readonly sizeBytes: number;
  readonly tensorBytes: number;
}

const MOST = {
  imageSize: 16_384,
  patchSize: 1_024,
  layers: 512,
  heads: 1_024,
  width: 131_072,
  melBins: 1_024,
} as const;

export function isProjector(lookup: Lookup): boolean {
  return lookup.text('general.architecture') === 'clip' || lookup.text('general.type') === 'mmproj';
}

export function readProjector(header: Header, lookup: Lookup, sizeBytes: number): ProjectorFacts {
  if (!isProjector(lookup)) lookup.refuse('it is not a projector (mmproj) but a model');
  if (lookup.text('general.architecture') !== 'clip') lookup.refuse('its architecture is not clip');
  const seesImages = lookup.flag('clip.has_vision_encoder') ?? false;
  const hearsAudio = lookup.flag('clip.has_audio_encoder') ?? false;
  if (!seesImages && !hearsAudio) lookup.refuse('it has neither a vision nor an audio encoder');
  if (header.tensors.length === 0) lookup.refuse('it holds no tensors');
  if (seesImages) checkNetwork(lookup, 'clip.vision');
  if (hearsAudio) checkNetwork(lookup, 'clip.audio');
  if (seesImages) checkImages(lookup);
  if (hearsAudio) checkAudio(header, lookup);
  return {
    type: lookup.text('clip.projector_type')?.slice(0, 64) ?? null,
    seesImages,
    hearsAudio,
    name: lookup.text('general.name'),
    sizeBytes,
    tensorBytes: Number(header.tensors.reduce((sum, { bytes }) => sum + bytes, 0n)),
  };
}

function checkNetwork(lookup: Lookup, prefix: string): void {
  const width = within(lookup, `${prefix}.embedding_length`, MOST.width);
  const heads = within(lookup, `${prefix}.attention.head_count`, MOST.heads);
  within(lookup, `${prefix}.block_count`, MOST.layers, 0);
  if (width !== undefined && heads !== undefined && width % heads !== 0)
    lookup.refuse(`${prefix}.embedding_length ${width} cannot be divided among ${heads} heads`);
}

function checkImages(lookup: Lookup): void {
  const size = within(lookup, 'clip.vision.image_size', MOST.imageSize);
  const patch = within(lookup, 'clip.vision.patch_size', MOST.patchSize);
  if (size !== undefined && patch !== undefined && patch > size)
    lookup.refuse(`clip.vision.patch_size ${patch} is larger than images of ${size}`);
  within(lookup, 'clip.vision.projector.scale_factor', MOST.patchSize);
  within(lookup, 'clip.vision.spatial_merge_size', MOST.patchSize);
}

/** Families with Whisper's encoder, and the values that libmtmd requires, or it aborts. */
const WHISPER: readonly (string | undefined)[] = [
  'ultravox',
  'voxtral',
  'qwen2a',
  'qwen2.5o',
  'glma',
  'meralion',
  'musicflamingo',
];
/** Positions of 30 seconds, which it always encodes. */
const WHISPER_PLACES = 1500n;
const WHISPER_TENSORS = ['ln1.weight', 'ln1.bias', 'ln2.weight', 'ln2.bias', 'attn_q.bias', 'attn_v.bias'];

function checkAudio({ tensors }: Header, lookup: Lookup): void {
  within(lookup, 'clip.audio.num_mel_bins', MOST.melBins);
  within(lookup, 'clip.audio.projector.stack_factor', MOST.melBins);
  const type = lookup.text('clip.projector_type') ?? lookup.text('clip.audio.projector_type');
  if (!WHISPER.includes(type)) return;
  const named = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const places = named.get('a.position_embd.weight')?.dims[1] ?? 0n;
  if (places < WHISPER_PLACES)
    lookup.refuse(`a.position_embd.weight has ${places} positions, and ${WHISPER_PLACES} are needed`);
  const missing = WHISPER_TENSORS.find((name) => !named.has(`a.blk.0.${name}`));
  if (missing !== undefined) lookup.refuse(`it has no a.blk.0.${missing}`);
  if (named.has('a.blk.0.attn_k.bias')) lookup.refuse('a.blk.0.attn_k.bias must not be there');
}

function within(lookup: Lookup, key: string, most: number, least = 1): number | undefined {
  const value = lookup.count(key, most);
  if (value !== undefined && value < least) lookup.refuse(`${key} is ${value}`);
  return value;
}
