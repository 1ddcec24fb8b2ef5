/**
 * server/api/upgrade owns the comparison of the present installation with a possible replacement: on the texts that ship, on
 * calls and JSON, and on requests that the user recorded. It runs workers of its own and knows nothing of the command
 * line. This file: recorded requests, from an HTTP archive or a folder of records.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Check } from 'typebox/value';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { parseJson } from '../../../lib/json/strict-json.ts';
import { withoutSpellings } from '../../../lib/json/spelled-numbers.ts';
import { ChatRequest } from '../../../wire/inference/chat.ts';
import { CompletionRequest } from '../../../wire/inference/completions.ts';
import { NO_CHAT } from '../completion/plan.ts';
import { readPrompts } from '../completion/prompts.ts';
import { readContent } from '../dialects/chat-completions/content.ts';
import type { JobContent } from '../generation/choices.ts';
import { readAnswerFormat } from '../intake/answer-format.ts';
import { readJsonFile } from '../replay/evidence-files.ts';

/** `name` identifies the request for the user and is never its text. */
export interface RecordedRequest {
  readonly name: string;
  readonly content: JobContent;
}

export interface Recorded {
  readonly requests: readonly RecordedRequest[];
  readonly left: number;
}

export async function readRecorded(place: string, last: number): Promise<Recorded> {
  const isFolder = await stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? readFolder(place, last) : fromArchive((await readJsonFile(place)).value, last);
}

async function readFolder(folder: string, last: number): Promise<Recorded> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.request.json'));
  const aged = await Promise.all(
    names.map(async (name) => ({ name, ms: (await stat(join(folder, name))).mtimeMs })),
  );
  aged.sort((one, other) => one.ms - other.ms || (one.name < other.name ? -1 : 1));
  const found: (RecordedRequest | null)[] = [];
  for (const { name } of aged.slice(-last))
    found.push(readRequest(name, (await readJsonFile(join(folder, name))).value));
  return sorted(found, last);
}

/** Accepts the output of `hearth requests --har`; another file contains no requests. */
export function fromArchive(archive: unknown, last: number): Recorded {
  const entries = listIn(member(archive, 'log'), 'entries');
  const asked = entries.filter((entry) => member(member(entry, 'request'), 'method') !== 'GET');
  return sorted(
    asked.map((entry, at) => readRequest(`request ${at + 1}`, findBody(entry))),
    last,
  );
}

const sorted = (found: readonly (RecordedRequest | null)[], last: number): Recorded => ({
  requests: found.filter((each) => each !== null).slice(-last),
  left: found.filter((each) => each === null).length,
});

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = member(value, name);
  return Array.isArray(list) ? list : [];
}

function findBody(entry: unknown): unknown {
  const text = member(member(member(entry, 'request'), 'postData'), 'text');
  if (typeof text !== 'string') return undefined;
  try {
    return parseJson(Buffer.from(text));
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return undefined;
  }
}

/** Null if no chat model of this machine can answer it from its text alone. */
function readRequest(name: string, body: unknown): RecordedRequest | null {
  try {
    const content = readBody(body);
    return content === null ? null : { name, content };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return null;
  }
}

function readBody(body: unknown): JobContent | null {
  if (Check(ChatRequest, body)) return readContent(withoutSpellings(body));
  if (!Check(CompletionRequest, body)) return null;
  const [prompt, ...others] = readPrompts(body);
  if (prompt?.kind !== 'text' || others.length > 0) return null;
  return { ...NO_CHAT, prompt, format: readAnswerFormat(body), topLogprobs: null };
}
