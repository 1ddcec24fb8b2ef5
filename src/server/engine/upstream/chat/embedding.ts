import type { EmbedJob } from '../../../../contract/job.ts';
import type { JobEvent } from '../../../../contract/job-event.ts';
import { normalise } from '../../../../lib/base/vector.ts';
import { ownTurn } from '../../../../lib/json/own-turn.ts';
import { type Asked, broken } from '../failures.ts';
import { readCount, field } from '../untrusted.ts';
import { MOST_NUMBERS } from '../limits.ts';
import type { UpstreamRequest, Written } from './request.ts';

const SLICE_NUMBERS = 64 * 1024;

export function writeEmbedding(job: EmbedJob, { model, dialect }: Written): UpstreamRequest {
  return {
    path: '/embeddings',
    body: {
      model,
      input: job.inputs,
      encoding_format: 'float',
      ...(job.truncate && dialect === 'hearth' ? { truncate: true } : {}),
    },
  };
}

/** Throws unless there is exactly one usable vector, of one width, for each input. */
export async function readEmbedding(asked: Asked, job: EmbedJob, body: unknown): Promise<JobEvent[]> {
  const data = field(body, 'data');
  if (!Array.isArray(data) || data.length !== job.inputs.length)
    throw broken(asked.upstream, 'rubbish', `it has no ${job.inputs.length} vectors`);
  const total = readCount(field(field(body, 'usage'), 'prompt_tokens')) ?? 0;
  const seen = new Set<number>();
  let width = 0;
  let sinceTurn = 0;
  const events: JobEvent[] = [];
  for (const [at, item] of (data as unknown[]).entries()) {
    const index = readCount(field(item, 'index')) ?? at;
    const vector = readVector(field(item, 'embedding'));
    if (vector === null || index >= data.length || seen.has(index))
      throw broken(asked.upstream, 'rubbish', 'one of its vectors is not usable');
    width ||= vector.length;
    if (vector.length !== width) throw broken(asked.upstream, 'rubbish', 'its vectors differ in width');
    seen.add(index);
    events.push({
      type: 'embedding',
      index,
      vector,
      tokens: 0,
      truncated: field(item, 'truncated') === true,
    });
    sinceTurn += width;
    if (sinceTurn < SLICE_NUMBERS) continue;
    await ownTurn();
    sinceTurn = 0;
  }
  return [...events, { type: 'embedded', totalTokens: total }];
}

function readVector(given: unknown): Float32Array | null {
  if (!Array.isArray(given) || given.length === 0 || given.length > MOST_NUMBERS) return null;
  if (!given.every((number) => typeof number === 'number' && Number.isFinite(number))) return null;
  return normalise(Float32Array.from(given as number[]));
}
