/** From a generate job to a generation: plan, render, tokenise, and the check that it fits. Runs before any prefill. */
import type { GenerateJob } from '../contract/job.ts';
import { fail } from '../lib/errors/svc-error.ts';
import type { AnswerPlan } from './answer/answer.ts';
import type { PromptPiece } from './prompt/client-text.ts';
import { Generation } from './batch/generation.ts';
import type { ChatModel } from './model.ts';
import { planAnswer } from './answer/plan-answer.ts';
import { renderPrompt, tokenizePieces } from './prompt/prompt.ts';

export interface PreparedPrompt {
  readonly plan: AnswerPlan;
  readonly pieces: readonly PromptPiece[];
  readonly tokens: Uint32Array;
  readonly numCtx: number;
}

/** The same prompt in other tokens. */
export type Known = (prompt: Uint32Array) => Uint32Array;

export function prepareGeneration(chat: ChatModel, job: GenerateJob, known: Known): Generation {
  const prepared = preparePrompt(chat, job);
  requireRoom(chat, prepared);
  return new Generation({
    job,
    prompt: knownPrompt(prepared, job, known),
    plan: prepared.plan,
    numCtx: prepared.numCtx,
    vocabulary: chat.vocabulary,
  });
}

/** In known tokens, unless these are more and take room from the answer. */
export function knownPrompt({ tokens, numCtx }: PreparedPrompt, job: GenerateJob, known: Known): Uint32Array {
  const other = known(tokens);
  return other.length <= tokens.length || other.length + (job.maxTokens ?? 1) <= numCtx ? other : tokens;
}

/** Throws `context_overflow` when not even one token of an answer fits behind the prompt. */
export function requireRoom(chat: ChatModel, { tokens, numCtx }: PreparedPrompt): void {
  if (tokens.length + 1 <= numCtx) return;
  throw fail('context_overflow', { promptTokens: tokens.length, numCtx, maxCtx: chat.facts.trainedCtx });
}

export function preparePrompt(chat: ChatModel, job: GenerateJob): PreparedPrompt {
  const plan = planAnswer(job, chat);
  const pieces = promptPieces(chat, job, plan);
  // A smaller window than the loaded one is a promise to the client, not another context.
  const numCtx = Math.min(job.numCtx ?? chat.facts.numCtx, chat.facts.numCtx);
  refuseHopeless(chat, pieces, numCtx);
  const tokens = tokenizePieces(chat.vocabulary, pieces);
  if (tokens.length === 0) throw fail('invalid_request', { message: 'The prompt is empty; send some text.' });
  return { plan, pieces, tokens, numCtx };
}

/** Text up to here is read in milliseconds, so that a refusal can name its exact count of tokens. */
const countedBytes = 256 * 1024;

/** What is long and cannot fit by its length alone is refused unread, because reading it would hold up every other stream. */
function refuseHopeless(chat: ChatModel, pieces: readonly PromptPiece[], numCtx: number): void {
  const bytes = pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (bytes <= countedBytes) return;
  const promptTokens = chat.vocabulary.leastTokens(bytes);
  const maxCtx = chat.facts.trainedCtx;
  if (promptTokens > numCtx) throw fail('context_overflow', { promptTokens, numCtx, maxCtx, atLeast: true });
}

function promptPieces(chat: ChatModel, job: GenerateJob, plan: AnswerPlan): PromptPiece[] {
  if (job.prompt.kind === 'text')
    return job.prompt.text === '' ? [] : [{ text: job.prompt.text, plain: true }];
  return renderPrompt(chat.writer, {
    turns: plan.turns,
    tools: plan.templateTools,
    variables: plan.templateVariables,
    prefill: plan.prefill,
    clockMs: job.templateClockMs,
  });
}
