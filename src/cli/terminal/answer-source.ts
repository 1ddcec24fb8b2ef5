import type { Config } from '../../config/config.ts';
import { builtinNamed } from '../../lib/errors/builtin-ids.ts';
import { FROZEN_MODE, REQUEST_HEADERS } from '../../wire/headers.ts';
import type { ChatChunk, ChatResponse } from '../../wire/inference/chat.ts';
import type { ModelEntry, ModelList } from '../../wire/models.ts';
import type { ResidencyList } from '../../wire/residency.ts';
import { routes } from '../../wire/routes.ts';
import { waitedFor } from '../../wire/stream-comments.ts';
import { builtinLimits } from '../../store/files/builtin-facts.ts';
import { callServer, expectOk, postText, ServerRefusal, streamServer } from '../api.ts';
import { CliFailure, EXIT_CODES } from '../context.ts';
import { knownNameAdvice } from '../words/advice.ts';
import type { Answerer, Effect, Event } from '../conversation/state.ts';

type Send = Extract<Effect, { readonly do: 'send' }>;

export async function findAnswerer(config: Config, name: string): Promise<Answerer> {
  const entry = await findModel(config, name);
  if (entry === null) throw await notInstalled(config, name);
  return openAnswerer(config, entry);
}

export async function openAnswerer(config: Config, entry: ModelEntry): Promise<Answerer> {
  if (entry.capabilities?.includes('chat') === false) {
    const use = `${entry.id} is an ${entry.kind} model and cannot chat`;
    throw new CliFailure(`${use}; choose a chat model that hearth list shows`, EXIT_CODES.usage);
  }
  const window = await askWindow(config, entry);
  const limits = builtinLimits(entry.digest);
  return {
    id: entry.id,
    hasTemplate: entry.chat_template !== false,
    ...(entry.capabilities?.includes('vision') === true ? { readsImages: true } : {}),
    ...(limits === undefined ? {} : { limits }),
    ...(window === undefined ? {} : { window }),
  };
}

async function askWindow(
  config: Config,
  { id, context_length }: Pick<ModelEntry, 'id' | 'context_length'>,
): Promise<Answerer['window']> {
  const { data } = expectOk(await callServer(config, 'GET', routes.residency.path)) as ResidencyList;
  const loaded = data.find((model) => model.id === id)?.num_ctx ?? null;
  if (loaded !== null) return { tokens: loaded, isLoaded: true };
  return context_length === undefined ? undefined : { tokens: context_length, isLoaded: false };
}

export async function findModel(config: Config, name: string): Promise<ModelEntry | null> {
  const path = name.split('/').map(encodeURIComponent).join('/');
  const response = await callServer(
    config,
    'GET',
    routes.model.path.replace('*', () => path),
  );
  const isMissing =
    response.status === 404 && (response.body as { code?: unknown } | null)?.code === 'model_not_found';
  return isMissing ? null : (expectOk(response) as ModelEntry);
}

export async function chatModels(config: Config): Promise<string[]> {
  const { data } = await listModels(config);
  return data.filter(({ kind }) => kind === 'chat').map(({ id }) => id);
}

export async function notInstalled(config: Config, name: string, advice = ''): Promise<CliFailure> {
  // The sentence about a built-in model already says how to restore it.
  const isBuiltin = builtinNamed(name) !== null;
  const response = await callServer(
    config,
    'GET',
    routes.model.path.replace('*', () => encodeURIComponent(name)),
  );
  try {
    expectOk(response);
  } catch (error) {
    if (!(error instanceof ServerRefusal)) throw error;
    const known = error.message.includes('did you mean') ? '' : knownNameAdvice(name);
    const hint = isBuiltin ? '' : known + advice;
    return new ServerRefusal(`${error.message}${hint}`, error.exitCode, error.code);
  }
  return new CliFailure(`${name} has just been installed; try again`);
}

async function listModels(config: Config): Promise<ModelList> {
  return expectOk(await callServer(config, 'GET', routes.models.path)) as ModelList;
}

export async function* answerEvents(
  config: Config,
  { body, isSigned }: Send,
  signal: AbortSignal,
): AsyncGenerator<Event> {
  const route = routes.chatCompletions.path;
  if (!isSigned) {
    let cut: string | null = null;
    for await (const part of streamServer(config, route, body, signal)) {
      if ('chunk' in part) {
        const chunk = part.chunk as ChatChunk;
        if (chunk.choices[0]?.svc_finish_reason === 'length') cut = chunk.model;
        yield { on: 'chunk', chunk };
      } else {
        const reason = waitedFor(part.comment);
        if (reason !== null) yield { on: 'queued', reason };
      }
    }
    const window = cut === null ? undefined : await askWindow(config, { id: cut }).catch(() => undefined);
    if (window !== undefined) yield { on: 'window', window };
    return;
  }
  const request = JSON.stringify(body);
  const headers = { [REQUEST_HEADERS.evidenceMode]: FROZEN_MODE };
  const response = await postText(config, { route, text: request, headers, signal });
  yield { on: 'signed', answer: { request, response }, body: JSON.parse(response) as ChatResponse };
}
