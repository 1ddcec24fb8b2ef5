/**
 * server/api/dialects/chat-completions owns POST /v1/chat/completions: it reads the request into a conversation, and writes
 * the answer as a body, chunks, a signed answer or a dry run. It knows nothing of sockets, headers or files.
 */
import { randomBytes } from 'node:crypto';
import type { EvidenceIssuer } from '../../../../trust/evidence/issuer.ts';
import type { DryRun } from '../../../../wire/inference/dry-run.ts';
import { ChatRequest } from '../../../../wire/inference/chat.ts';
import { withoutSpellings } from '../../../../lib/json/spelled-numbers.ts';
import { type AnswerDialect, AcceptedRequest } from '../../chat/accepted-request.ts';
import { type ChatAsk, type ChatPorts, planChat } from '../../chat/chat.ts';
import type { RequestNotes } from '../../chat/request-notes.ts';
import type { Caller } from '../../caller.ts';
import { answerHead } from '../../generation/usage.ts';
import type { Choices } from '../../generation/choices.ts';
import { unknownFields } from '../../generation/parameters.ts';
import { wirePromptLogprobs } from '../../generation/prompt-scores.ts';
import { lazy } from '../../../../lib/base/memoize-by-object.ts';
import { takenBy, Omissions } from '../media.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { idleFields } from '../fields.ts';
import { FIELDS, readContent } from './content.ts';
import { dryRun } from './dry-run.ts';
import { wholeAnswer, type WholeAnswerPorts, withNulls } from './whole-answer.ts';

export interface ChatCompletionPorts extends ChatPorts, WholeAnswerPorts {
  readonly evidence: EvidenceIssuer | null;
}

export interface ChatManner {
  readonly verbatim: boolean;
  readonly readsOpenAi: boolean;
}

export interface ChatUseCases {
  accept(body: ChatRequest, caller: Caller, manner?: ChatManner): Promise<AcceptedRequest>;
  dryRun(
    body: ChatRequest,
    caller: Caller,
    manner: ChatManner,
  ): Promise<{ readonly understood: RequestNotes; readonly body: DryRun }>;
}

const PLAIN: ChatManner = { verbatim: false, readsOpenAi: false };

export function chatUseCases(ports: ChatCompletionPorts): ChatUseCases {
  return {
    accept: async (body, caller, manner = PLAIN) => {
      const plan = await planChat(ports, askedChat(body, manner), caller);
      return new AcceptedRequest(ports.engine, plan, answers(ports, plan.choices, body, manner));
    },
    dryRun: async (body, caller, manner) => {
      const plan = await planChat(ports, askedChat(body, manner), caller);
      return { understood: plan.understood, body: await dryRun(ports.engine, plan) };
    },
  };
}

function askedChat(body: ChatRequest, { verbatim }: ChatManner): ChatAsk {
  const omissions = new Omissions();
  return {
    verbatim,
    model: body.model,
    // A record names the canonical request, so the prompt is built from that.
    content: (model, fetches) =>
      readContent(verbatim ? withoutSpellings(body) : body, takenBy(model, fetches), omissions),
    options: body,
    idle: ({ reasoning }) => [
      ...idleFields(body, FIELDS, reasoning),
      ...omissions.paths,
      ...unknownFields(body, ChatRequest.properties),
    ],
  };
}

function answers(
  ports: ChatCompletionPorts,
  { model, jobs }: Choices,
  body: ChatRequest,
  { readsOpenAi }: ChatManner,
): AnswerDialect {
  const streamHead = lazy(() => {
    // The time alone would name all streams of a second alike.
    const entropy = randomBytes(6).toString('hex');
    return answerHead(ports, model, {
      object: 'chat.completion.chunk' as const,
      makeId: (created) => `chatcmpl-svc-${created}${entropy}`,
    });
  });
  return {
    whole: async (collected) => {
      const answer = withNulls(await wholeAnswer(ports, model, collected));
      const { prompt_logprobs: top } = body;
      if (typeof top !== 'number') return answer;
      const [{ promptTokens }] = collected.answers;
      return { ...answer, ...wirePromptLogprobs(promptTokens, top) };
    },
    writer: async () => {
      const includeUsage = body.stream_options?.include_usage === true;
      const writer = new ChunkWriter(await streamHead(), jobs.length, { includeUsage, readsOpenAi });
      return (index, event) => writer.write(index, event);
    },
    record: {
      evidence: ports.evidence,
      body,
      whole: (collected) => wholeAnswer(ports, model, collected),
      head: streamHead,
    },
  };
}
