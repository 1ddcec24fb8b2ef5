/** The user's own requests, as an archive of the flight recorder has them: conversations to be scored. Pure. */
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import type { GenerateJob, Turn } from '../../../contract/job.ts';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { ChatRequest } from '../../../wire/inference/chat.ts';
import { MessagesRequest } from '../../../wire/messages/request.ts';
import { routes } from '../../../wire/routes.ts';
import { checkJob } from '../check/check-job.ts';
import { readContent } from '../dialects/chat-completions/content.ts';
import { Omissions, onlyText } from '../dialects/media.ts';
import { readTurns } from '../dialects/messages/turns.ts';

export interface OwnRequest {
  readonly job: GenerateJob;
}

const Entry = Type.Object({
  request: Type.Object({ url: Type.String(), postData: Type.Object({ text: Type.String() }) }),
  response: Type.Object({
    status: Type.Integer(),
    content: Type.Object({ text: Type.Optional(Type.String()) }),
  }),
});
const Archive = Type.Object({ log: Type.Object({ entries: Type.Array(Type.Unknown()) }) });

/** More take long and add little. */
const MOST_REQUESTS = 16;
/** Each is compared with all that are newer. */
const MOST_COUNTED = 1_000;

export interface OwnRequests {
  /** The newest first. */
  readonly requests: readonly OwnRequest[];
  /** Conversations beyond those. */
  readonly left: number;
}

type Asked = Pick<GenerateJob, 'prompt'> & Partial<GenerateJob>;

/** Routes whose requests are conversations, and how they are read. */
const READERS: Readonly<Record<string, (body: unknown) => Asked | null>> = {
  [routes.chatCompletions.path]: (body) => {
    if (!Check(ChatRequest, body)) return null;
    const { prompt, tools } = readContent(body);
    return { prompt, tools };
  },
  [routes.messages.path]: (body) =>
    Check(MessagesRequest, body)
      ? { prompt: { kind: 'chat', turns: readTurns(body, onlyText, new Omissions()) } }
      : null,
};

/** Null: it is no archive. A request that a later one repeats and continues is left out. */
export function readOwnRequests(archive: unknown): OwnRequests | null {
  if (!Check(Archive, archive)) return null;
  const requests: OwnRequest[] = [];
  const seen: string[] = [];
  for (const entry of archive.log.entries.toReversed()) {
    if (seen.length === MOST_COUNTED) break;
    const asked = readEntry(entry);
    if (asked?.prompt.kind !== 'chat') continue;
    const beginning = JSON.stringify(asked.prompt.turns).slice(0, -1);
    if (seen.some((later) => later.startsWith(beginning))) continue;
    seen.push(beginning);
    if (requests.length === MOST_REQUESTS) continue;
    const turns = [...asked.prompt.turns, ...answerTurns(entry)];
    requests.push({ job: checkJob('own', { ...asked, prompt: { ...asked.prompt, turns } }) });
  }
  return { requests, left: seen.length - requests.length };
}

/** Null: another route, a failure, or text that was not kept whole. */
function readEntry(entry: unknown): Asked | null {
  if (!Check(Entry, entry) || entry.response.status !== 200) return null;
  const { url, postData } = entry.request;
  const read = URL.canParse(url) ? READERS[new URL(url).pathname] : undefined;
  const body = parsed(postData.text);
  if (read === undefined || body === undefined) return null;
  try {
    return read(body);
  } catch (error) {
    // It asks for what this version refuses, such as an image.
    if (isSvcError(error)) return null;
    throw error;
  }
}

/** What was answered, where a chat answered in words. */
function answerTurns(entry: unknown): Turn[] {
  const text = Check(Entry, entry) ? (entry.response.content.text ?? '') : '';
  const whole = parsed(text);
  const content = whole === undefined ? streamed(text) : wordsAt(whole, 'message');
  return content === '' ? [] : [{ role: 'assistant', content }];
}

const streamed = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => wordsAt(parsed(line.replace(/^data:/, '')), 'delta'))
    .join('');

function wordsAt(chunk: unknown, part: 'message' | 'delta'): string {
  const choice: unknown = (chunk as { choices?: readonly unknown[] } | null)?.choices?.[0];
  const content = (choice as Record<string, { content?: unknown }> | undefined)?.[part]?.content;
  return typeof content === 'string' ? content : '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
