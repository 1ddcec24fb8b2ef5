/** A model of another service as the reference: it scores the same texts on its route of completions. */
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { MOST_ALTERNATIVES } from '../../../contract/limits.ts';
import { readJson } from '../../engine/upstream/http/body.ts';
import { exchange, type ExchangeDeps } from '../../engine/upstream/http/exchange.ts';
import type { AnswerLimits } from '../../engine/upstream/limits.ts';
import { apiRoot } from '../../engine/upstream/look/models.ts';
import { fail, isFailure } from '../../../lib/errors/svc-error.ts';
import { type PromptLogprobs, promptLogprobsShapes } from '../../../wire/inference/prompt-logprobs.ts';
import { routes } from '../../../wire/routes.ts';
import { proveIfPinned } from '../remote-models/own-probe.ts';
import type { UpstreamModel } from '../remote-models/upstream-model.ts';
import type { Reference, ScoredText, TokenScore } from './measure.ts';
import { EVAL_TEXTS, type EvalText } from './texts.ts';

/** A text has some hundred tokens, each with its alternatives. */
const LIMITS: AnswerLimits = { bytes: 16 * 1024 * 1024, json: { depth: 64, tokens: 1_000_000 } };

const Answer = Type.Object({ choices: Type.Tuple([Type.Object(promptLogprobsShapes)]) });

export interface UpstreamReference extends UpstreamModel {
  readonly deps: ExchangeDeps;
  readonly signal: AbortSignal;
  readonly onProgress: (words: string) => void;
}

/** Measures its predictions only: the service does not report its template, memory, or speed without the network. */
export async function measureUpstream(asked: UpstreamReference): Promise<Reference> {
  await proveIfPinned(asked.deps, asked.upstream, asked.signal);
  const texts: ScoredText[] = [];
  for (const [at, { name, text }] of EVAL_TEXTS.entries()) {
    asked.onProgress(`${asked.id}: ${at + 1} of ${EVAL_TEXTS.length}, text ${name} …`);
    texts.push(await scoredText(asked, { name, text }));
  }
  return {
    model: asked.id,
    texts,
    own: [],
    needle: null,
    rendered: null,
    readPerS: null,
    writtenPerS: null,
    memoryBytes: null,
  };
}

async function scoredText(asked: UpstreamReference, { name, text }: EvalText): Promise<ScoredText> {
  const { prompt_token_ids: ids, prompt_logprobs: scores } = await askLogprobs(asked, text);
  if (ids === undefined || scores === undefined || ids.length !== scores.length) throw cannot(asked);
  const words = ids.map((id, at) => scores[at]?.[id]?.decoded_token ?? '').join('');
  // The first token has no score; it may be a mark, or belong to the text.
  const scored = text.endsWith(words) ? words : text;
  const tokens = ids.flatMap((id, at) => tokenScore(id, scores[at] ?? null));
  return { name, bytes: Buffer.byteLength(scored), tokens };
}

async function askLogprobs(asked: UpstreamReference, text: string): Promise<PromptLogprobs> {
  const { upstream, model, deps, signal } = asked;
  // vLLM reports the ids only if a request asks for them, and generates at least one token.
  const wanted = {
    max_tokens: 1,
    temperature: 0,
    prompt_logprobs: MOST_ALTERNATIVES,
    return_token_ids: true,
  };
  const url = `${apiRoot(upstream.baseUrl)}${routes.completions.path}`;
  const body = JSON.stringify({ model, prompt: text, ...wanted });
  try {
    const answer = await readJson(await exchange(deps, { upstream, url, body, model, signal }), LIMITS);
    return Check(Answer, answer) ? answer.choices[0] : {};
  } catch (error) {
    if (isFailure(error, 'upstream_refused') && /log.?prob/i.test(error.detail.message ?? ''))
      throw cannot(asked);
    throw error;
  }
}

const cannot = ({ id }: UpstreamModel): Error =>
  fail('capability_missing', {
    model: id,
    ability: 'report the log probabilities of a prompt',
    remedy: 'compare with a model of another Hearth or of vLLM, or install the reference here',
    param: 'against',
  });

type Ranked = NonNullable<NonNullable<PromptLogprobs['prompt_logprobs']>[number]>;

/** None for a first token, which follows nothing. */
function tokenScore(id: number, known: Ranked | null): TokenScore[] {
  const own = known?.[id];
  if (known === null || own === undefined) return [];
  const ranked = Object.entries(known).toSorted(([, a], [, b]) => a.rank - b.rank);
  return [{ id, logprob: own.logprob, top: ranked.map(([other, { logprob }]) => [Number(other), logprob]) }];
}
