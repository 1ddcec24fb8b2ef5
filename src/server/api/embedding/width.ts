/**
 * The width of the vectors in an answer. Without `dimensions` they always have the width of the interface: zeros
 * appended to a narrower vector change no distance, and a wider one is cut if its model was trained for that.
 */
import { EMBEDDING_WIDTH } from '../../../contract/limits.ts';
import { normalise } from '../../../lib/base/vector.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import type { ModelDefaults, ServedModel } from '../models/served-model.ts';

export type WidthFacts = Pick<ServedModel, 'id' | 'name' | 'architecture'> & {
  readonly defaults?: Pick<ModelDefaults, 'dimensions'>;
  readonly embeddingWidth: number;
};

/**
 * Models trained so that the first numbers of a vector are a usable vector. Listed by name, because GGUF files do not
 * contain this fact.
 */
const TRAINED_TO_BE_CUT = [
  /qwen3.?embedding/i,
  /embedding.?gemma/i,
  /nomic.?embed.?text.?v(1\.5|2)/i,
  /mxbai.?embed.?(large|2d|xsmall)/i,
  /jina.?embeddings.?v[345]/i,
  /arctic.?embed.{0,32}v2/i,
];
/** Chosen: none of these models is usable at a smaller width. */
const LEAST_WIDTH = 64;

export function answerWidth(model: WidthFacts, dimensions: number | null): number {
  const own = model.embeddingWidth;
  const least = canBeCut(model) ? Math.min(LEAST_WIDTH, own) : own;
  const set = model.defaults?.dimensions ?? EMBEDDING_WIDTH;
  const wanted = dimensions ?? (set === 'native' ? own : set);
  if (wanted >= least && wanted <= own) return wanted;
  if (own < EMBEDDING_WIDTH && wanted === EMBEDDING_WIDTH) return wanted;
  throw fail('embedding_width', {
    model: model.id,
    wanted,
    widths: inWords(least, own),
    ...(dimensions === null ? { isDefault: true } : {}),
    param: 'dimensions',
  });
}

function inWords(least: number, own: number): string {
  const isRange = least < own;
  const widths = isRange ? `a number from ${least} to ${own}` : `${own}`;
  return own < EMBEDDING_WIDTH ? `${widths}${isRange ? ',' : ''} or ${EMBEDDING_WIDTH}` : widths;
}

function canBeCut({ id, name, architecture }: WidthFacts): boolean {
  return TRAINED_TO_BE_CUT.some((pattern) =>
    [id, name ?? '', architecture].some((text) => pattern.test(text)),
  );
}

export function fitted(vector: Float32Array, width: number): Float32Array {
  if (vector.length === width) return vector;
  if (vector.length > width) return normalise(vector.slice(0, width));
  const wide = new Float32Array(width);
  wide.set(vector);
  return wide;
}
