/** Converts a query and its documents to token runs, one per pair: identical documents once, the longest first. */
import type { RankJob } from '../../contract/job.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { EmbeddingModel } from '../model.ts';
import type { EmbedInput } from './embed-input.ts';
import { groupPlaces } from './embed-input.ts';

interface Frame {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

const PLACES = /(\{query\}|\{document\})/;

type RankModel = Pick<EmbeddingModel, 'vocabulary' | 'model' | 'limit'>;

export function rankInputs(ranker: RankModel, job: RankJob): EmbedInput[] {
  const frame = buildFrame(ranker, job.query);
  const asked = frame.before.length + frame.after.length;
  const { limit } = ranker;
  const room = limit - asked;
  // A document without tokens could not be compared with others.
  if (room < 1) throw fail('query_too_long', { param: 'query', tokens: asked, limit });
  const inputs = [...groupPlaces(job.documents)].map(([text, indexes]) => {
    const document = ranker.vocabulary.tokenize(text, false);
    const truncated = document.length > room;
    if (truncated && !job.truncate) {
      const index = indexes[0] ?? 0;
      const tokens = asked + document.length;
      throw fail('input_too_long', { param: `documents[${index}]`, index, tokens, limit, withQuery: true });
    }
    const kept = truncated ? document.subarray(0, room) : document;
    return { tokens: Uint32Array.from([...frame.before, ...kept, ...frame.after]), truncated, indexes };
  });
  return inputs.sort((a, b) => b.tokens.length - a.tokens.length);
}

/** Client text never becomes a control token; marks of the model's own template do. */
function buildFrame({ vocabulary, model }: RankModel, query: string): Frame {
  const asked = [...vocabulary.tokenize(query, false)];
  const template = model.facts.rerankTemplate;
  if (template === null) {
    const { first, between, last } = vocabulary.pair;
    return { before: [...first, ...asked, ...between], after: last };
  }
  const before: number[] = [];
  const after: number[] = [];
  let side = before;
  for (const part of template.split(PLACES)) {
    if (part === '{document}') side = after;
    else side.push(...(part === '{query}' ? asked : vocabulary.tokenize(part, true)));
  }
  return { before, after };
}
