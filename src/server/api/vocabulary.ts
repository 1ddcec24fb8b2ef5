/** POST /v1/tokenize and /v1/detokenize. Their jobs take no slot, so they do not wait for running answers. */
import type { JobEvent } from '../../contract/job-event.ts';
import type { VocabularyJob } from '../../contract/job.ts';
import { requireEvent } from '../engine/collect.ts';
import type { Engine } from '../engine/ports.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import {
  DetokenizeRequest,
  type DetokenizeResponse,
  TokenizeRequest,
  type TokenizeResponse,
} from '../../wire/inference/tokens.ts';
import type { TokenizerInfo } from '../../wire/llama-server.ts';
import { type Caller, newJobId } from './caller.ts';
import type { RequestNotes } from './chat/request-notes.ts';
import { checkIgnored, unknownFields } from './generation/parameters.ts';
import { runWhole } from './run-whole.ts';
import type { Models, ServedModel } from './models/served-model.ts';

export interface VocabularyPorts {
  readonly models: Pick<Models, 'find' | 'resolve'>;
  readonly engine: Pick<Engine, 'submit'>;
  readonly strictParams: boolean;
}

export interface VocabularyAnswer<Body> {
  readonly body: Body;
  readonly understood: RequestNotes;
}

export async function tokenize(
  ports: VocabularyPorts,
  body: TokenizeRequest,
  caller: Caller,
): Promise<VocabularyAnswer<TokenizeResponse>> {
  const ignored = unknownFields(body, TokenizeRequest.properties);
  checkIgnored(ports.strictParams, ignored);
  const text = readText(body);
  const model = await anyModel(ports.models, body.model);
  const job = {
    kind: 'tokenize' as const,
    jobId: newJobId(caller),
    text: text.toWellFormed(),
    addSpecial: body.add_special === true,
    parseSpecial: body.parse_special === true,
    withPieces: body.with_pieces === true,
  };
  const { tokens, pieces } = await runJob(ports.engine, { model, job, body, caller }, 'tokenized');
  return {
    understood: { ignored },
    body: {
      model: model.id,
      count: tokens.length,
      tokens:
        pieces === undefined
          ? Array.from(tokens)
          : pieces.map((piece, index) => ({ id: tokens[index] ?? 0, piece })),
    },
  };
}

export async function detokenize(
  ports: VocabularyPorts,
  body: DetokenizeRequest,
  caller: Caller,
): Promise<VocabularyAnswer<DetokenizeResponse>> {
  const ignored = unknownFields(body, DetokenizeRequest.properties);
  checkIgnored(ports.strictParams, ignored);
  const model = await anyModel(ports.models, body.model);
  const job = { kind: 'detokenize' as const, jobId: newJobId(caller), tokens: body.tokens };
  const { text } = await runJob(ports.engine, { model, job, body, caller }, 'detokenized');
  return { understood: { ignored }, body: { model: model.id, content: text } };
}

export async function tokenizerInfo(
  ports: VocabularyPorts,
  caller: Caller,
): Promise<VocabularyAnswer<TokenizerInfo>> {
  const model = await ports.models.resolve('default', 'chat');
  const job = {
    kind: 'tokenize' as const,
    jobId: newJobId(caller),
    text: '',
    addSpecial: false,
    parseSpecial: false,
    withPieces: false,
    wantsMarks: true as const,
  };
  const { marks } = await runJob(ports.engine, { model, job, body: {}, caller }, 'tokenized');
  const orNull = (mark = ''): string | null => (mark === '' ? null : mark);
  const body = { model: model.id, bos_token: orNull(marks?.begin), eos_token: orNull(marks?.end) };
  return { understood: { ignored: [] }, body };
}

function readText({ input, content, prompt }: TokenizeRequest): string {
  const sent = [input, content, prompt].filter((text) => text !== null && text !== undefined);
  const [text] = sent;
  if (text !== undefined && sent.length === 1) return text;
  throw fail('invalid_request', {
    param: 'input',
    message:
      text === undefined
        ? 'input is required; send the text to tokenise.'
        : 'input, content and prompt are names for one text; send one of them.',
  });
}

async function anyModel(models: VocabularyPorts['models'], name: string): Promise<ServedModel> {
  if (name === 'default') return models.resolve(name, 'chat');
  if (name === 'default-embedding') return models.resolve(name, 'embedding');
  return models.find(name);
}

interface Run {
  readonly model: ServedModel;
  readonly job: VocabularyJob;
  readonly body: { readonly keep_alive?: string | number | null };
  readonly caller: Caller;
}

async function runJob<T extends 'tokenized' | 'detokenized'>(
  engine: Pick<Engine, 'submit'>,
  { model, job, body, caller }: Run,
  type: T,
): Promise<Extract<JobEvent, { type: T }>> {
  if (!model.target().capabilities.canTokenize) {
    throw fail('capability_missing', {
      model: model.id,
      ability: 'tell its tokens',
      remedy: 'count them by the usage of an answer',
      param: 'model',
    });
  }
  const events = await runWhole(engine, { model, job, caller, keepAlive: body.keep_alive });
  return requireEvent(events, type);
}
