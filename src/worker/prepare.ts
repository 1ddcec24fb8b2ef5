import type { GenerateJob, Turn } from '../contract/job.ts';
import type { Preparation, UnheldKeyword } from '../contract/job-event.ts';
import { addBiases } from '../contract/sampling.ts';
import { fail } from '../lib/errors/svc-error.ts';
import type { Answer } from './answer/answer.ts';
import { type AnswerPlan, openAnswer, planAnswer } from './answer/plan-answer.ts';
import type { ModelFormat } from '../../packages/chat-templates/src/tool-format/tool-format.ts';
import type { PromptRun } from './media/media-encoder.ts';
import type { PromptMedia } from './media/read-media.ts';
import { isRow } from './media/rows.ts';
import type { ChatModel } from './model.ts';
import type { PromptPiece } from './prompt/guard.ts';
import { envelopeTurns, withKnownRoles } from './prompt/envelope.ts';
import type { PromptTurn } from './prompt/folding/prompt-turn.ts';
import { callStyle, withModelIds, withTools } from './prompt/history.ts';
import {
  type ChatPrompt,
  type PromptWriter,
  renderFolded,
  renderPrompt,
  tokenizePieces,
} from './prompt/prompt.ts';
import { type RawPrompt, rawPrompt, rawTexts } from './prompt/raw-prompt.ts';
import { unlimitedTokens, withoutEndToken } from './prompt/unlimited-tokens.ts';
import type { Vocabulary } from './prompt/vocabulary.ts';

export interface PreparedChat {
  readonly job: GenerateJob;
  readonly writer: PromptWriter;
  readonly pieces: readonly PromptPiece[];
  readonly folds: readonly string[];
  readonly unheld: readonly UnheldKeyword[];
  readonly tokens: Uint32Array;
  readonly runs: readonly PromptRun[];
  /** Tokens that the template writes before the first message. */
  readonly openingTokens: number;
  /** Tokens at the beginning that any conversation with the same system text and tools shares; null: not requested. */
  readonly sharedTokens: number | null;
  readonly beginning: () => number | null;
  readonly numCtx: number;
  /** Tokens that the answer may have, as requested and limited by the room after the prompt. */
  readonly maxTokens: number;
  /** The client did not request that limit, so a call that it would cut is completed. */
  readonly endsCalls: boolean;
  readonly toolFormat: string;
  readonly model: ModelFormat;
  readonly answer: Answer;
  readonly preparation: Preparation;
}

export function prepareChat(
  loaded: ChatModel,
  asked: GenerateJob,
  images: PromptMedia | null = null,
): PreparedChat {
  const chat = speaking(loaded, asked);
  const biased = withBiases(chat.vocabulary, withLimit(chat, asked));
  const begunMs = performance.now();
  const plan = planAnswer(biased, chat.writer);
  const plannedMs = performance.now();
  // A smaller window than the loaded one is a promise to the client, not another context.
  const numCtx = Math.min(asked.numCtx ?? chat.facts.numCtx, chat.facts.numCtx);
  const { pieces, tokens, runs, folds, openingTokens } = buildPrompt(chat, {
    job: biased,
    plan,
    numCtx,
    images,
  });
  if (tokens.length === 0) throw fail('invalid_request', { message: 'The prompt is empty; send some text.' });
  const job = withinMost(biased, tokens.length);
  const room = Math.max(0, numCtx - tokens.length);
  const maxTokens = Math.min(job.maxTokens ?? room, room);
  // A frozen answer is planned with the limit that its record names; others do not change with the prompt's length.
  const planned = job.lane !== 'shared' ? maxTokens : (job.maxTokens ?? Math.floor(numCtx / 2));
  const readMs = performance.now();
  const answer = { ...openAnswer(plan, planned, chat), hiddenStops: hiddenStops(chat, job) };
  const grammarMs = plan.gbnf === null ? 0 : plannedMs - begunMs + performance.now() - readMs;
  const beginning = sharedBeginning(chat, { job, plan, tokens });
  // Only memory that cannot be cut at any token needs it now.
  const isWanted = chat.prefixReuse !== 'full' && chat.spec.promptCache !== undefined;
  const sharedTokens = isWanted ? beginning() : null;
  const { toolFormat, model } = plan;
  return {
    job,
    writer: chat.writer,
    pieces,
    folds,
    unheld: plan.unheld,
    tokens,
    runs,
    openingTokens,
    sharedTokens,
    beginning,
    numCtx,
    maxTokens,
    endsCalls: asked.maxTokens === null && asked.lane === 'shared' && job.maxTokens === biased.maxTokens,
    toolFormat,
    model,
    answer,
    preparation: { promptMs: performance.now() - begunMs - grammarMs, grammarMs },
  };
}

/** A model that cannot end an answer would fill the window. */
function withLimit({ writer }: ChatModel, job: GenerateJob): GenerateJob {
  if (job.maxTokens !== null || job.isUnlimited === true) return job;
  const isChat = job.prompt.kind === 'chat';
  return { ...job, maxTokens: isChat ? unlimitedTokens(writer) : withoutEndToken(writer) };
}

function withinMost(job: GenerateJob, promptTokens: number): GenerateJob {
  if (job.mostTokens === undefined) return job;
  const left = Math.max(1, job.mostTokens - promptTokens);
  return { ...job, maxTokens: Math.min(job.maxTokens ?? left, left) };
}

/** The model with the template for this conversation: some files have a second one for tools. */
function speaking(chat: ChatModel, { tools }: GenerateJob): ChatModel {
  const { toolWriter } = chat;
  return toolWriter === null || tools.length === 0 ? chat : { ...chat, writer: toolWriter };
}

/** Throws `context_length_exceeded` if the prompt leaves no room for a single token of a requested answer. */
export function requireRoom(chat: ChatModel, { job, tokens, numCtx }: PreparedChat): void {
  if (tokens.length + (job.maxTokens === 0 ? 0 : 1) <= numCtx) return;
  throw fail('context_length_exceeded', {
    promptTokens: tokens.length,
    numCtx,
    maxCtx: chat.facts.trainedCtx,
    isAsked: job.numCtx !== null,
  });
}

/** Shorter text is tokenised within milliseconds, and a refusal names its exact number of tokens. */
const COUNTED_BYTES = 256 * 1024;

/** Refuses text that is too long to fit without tokenising it, which would block every other stream. */
function refuseHopeless(
  chat: ChatModel,
  pieces: readonly Pick<PromptPiece, 'text'>[],
  { job, numCtx }: Pick<PromptRequest, 'job' | 'numCtx'>,
): void {
  const bytes = pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (bytes <= COUNTED_BYTES) return;
  const promptTokens = chat.vocabulary.leastTokens(bytes);
  if (promptTokens <= numCtx) return;
  const maxCtx = chat.facts.trainedCtx;
  const isAsked = job.numCtx !== null;
  throw fail('context_length_exceeded', { promptTokens, numCtx, maxCtx, isAsked, atLeast: true });
}

/**
 * Found by preparing a different conversation with the same beginning, whatever the template does. The returned
 * function keeps only the beginning of this one in memory.
 */
function sharedBeginning(
  chat: ChatModel,
  {
    job,
    plan,
    tokens,
  }: { readonly job: GenerateJob; readonly plan: AnswerPlan; readonly tokens: Uint32Array },
): () => number | null {
  const { prompt, tools } = job;
  if (prompt.kind !== 'chat') return () => null;
  const first = prompt.turns.findIndex(({ role }) => role !== 'system');
  if (first < 0 || (first === 0 && tools.length === 0)) return () => null;
  const said = prompt.turns[first]?.content ?? '';
  const other: Turn = { role: 'user', content: said.startsWith('x') ? '1' : 'x' };
  const turns = [...prompt.turns.slice(0, first), other];
  const alike = { ...job, prompt: { ...prompt, turns, continues: false } };
  return () => {
    const pieces = promptPieces(chat, alike, plan);
    const others = chat.writer.tokens.of(pieces, job.domain ?? '');
    const parts = tokens.findIndex((token, at) => token !== others[at]);
    return parts > 0 ? parts : null;
  };
}

interface PromptRequest {
  readonly job: GenerateJob;
  readonly plan: AnswerPlan;
  readonly numCtx: number;
  readonly images: PromptMedia | null;
}

function buildPrompt(
  chat: ChatModel,
  { job, plan, numCtx, images }: PromptRequest,
): RawPrompt & Pick<PreparedChat, 'folds' | 'runs' | 'openingTokens'> {
  const { prompt } = job;
  if (prompt.kind !== 'chat') {
    refuseHopeless(
      chat,
      rawTexts(prompt).map((text) => ({ text })),
      { job, numCtx },
    );
    return { ...rawPrompt(chat.vocabulary, prompt), runs: [], folds: [], openingTokens: 0 };
  }
  const asked = { ...chatPrompt(chat.writer, { ...job, prompt }, plan), marks: images?.marks ?? [] };
  const { pieces: rendered, folds, opening } = renderFolded(chat.writer, asked);
  const { pieces, runs } = images?.placed(rendered) ?? { pieces: rendered, runs: [] };
  refuseHopeless(chat, pieces, { job, numCtx });
  const tokens = chat.writer.tokens.of(pieces, job.domain ?? '');
  if (isRow(tokens.at(-1) ?? 0)) throw fail('template_failed', { reason: 'it ends with an image' });
  const openings = [{ text: opening, plain: false, continues: false }];
  const openingTokens = tokenizePieces(chat.vocabulary, openings).length;
  return { pieces, tokens, runs, folds, openingTokens };
}

export type ChatJob = GenerateJob & { readonly prompt: Extract<GenerateJob['prompt'], { kind: 'chat' }> };

function promptPieces({ writer }: ChatModel, job: ChatJob, plan: AnswerPlan): PromptPiece[] {
  return renderPrompt(writer, chatPrompt(writer, job, plan));
}

export function chatPrompt(
  writer: PromptWriter,
  { prompt, tools, ...job }: ChatJob,
  plan: AnswerPlan,
): ChatPrompt {
  // A begun turn is not part of the template's output, which would end it.
  const turns = prompt.continues === true ? prompt.turns.slice(0, -1) : prompt.turns;
  const callable = plan.tools.length > 0;
  const native = plan.model.tools;
  return {
    turns:
      native === null ? envelopeTurns(writer, { turns, tools, callable }) : nativeTurns(writer, turns, plan),
    tools: native === null || writer.tellsTools === false ? [] : plan.tools,
    calls: callStyle(plan.model),
    toolsVariable: plan.model.toolsVariable,
    variables: plan.templateVariables,
    prefill: plan.prefill,
    clockMs: job.templateClockMs,
  };
}

/** JSON has none: its grammar ends it, and it may contain marks. An answer that only its limit ends has none either. */
function hiddenStops({ writer }: ChatModel, { prompt, format, ignoresEnd }: GenerateJob): readonly string[] {
  const isText = prompt.kind === 'chat' && format.kind === 'text';
  return isText && ignoresEnd !== true ? writer.template.stops : [];
}

/** A template without tools may not know the role of their results either. */
function nativeTurns(
  writer: PromptWriter,
  turns: readonly Turn[],
  { model, tools }: AnswerPlan,
): readonly PromptTurn[] {
  const numbered = withModelIds(turns, model.history.ids);
  if (writer.tellsTools !== false || model.tools === null) return numbered;
  return withKnownRoles(writer, tools.length === 0 ? numbered : withTools(numbered, tools, model.tools));
}

/** The biases of a job by token; end tokens are forbidden if none may end the answer. */
function withBiases(vocabulary: Vocabulary, job: GenerateJob): GenerateJob {
  const { biasedTexts = [], ignoresEnd = false, sampling } = job;
  if (biasedTexts.length === 0 && !ignoresEnd) return job;
  const ofTexts = biasedTexts.flatMap(([text, bias]) =>
    Array.from(vocabulary.tokenize(text, false), (token) => [token, bias] as const),
  );
  const ends = ignoresEnd ? vocabulary.endTokens : [];
  const forbidden = ends.map((token) => [token, Number.NEGATIVE_INFINITY] as const);
  return { ...job, sampling: addBiases(sampling, [...ofTexts, ...forbidden]) };
}
