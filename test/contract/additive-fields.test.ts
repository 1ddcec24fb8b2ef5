/**
 * Every field that any body of the table of routes has, on every route with a body. Where a route lists it, a value of
 * another type is refused with its name, and a fitting one changes the job or the answer, or is named. Where a route
 * does not, it is named, or refused if it demands something. The OpenAPI document lists the same fields.
 */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../src/server/http/openapi.ts';
import { type Route, routes } from '../../src/wire/routes.ts';
import type { Reply } from '../support/http/http-client.ts';
import {
  installed,
  PAGE_TOKEN,
  scriptedService,
  type ScriptedService,
} from '../support/http/scripted-service.ts';

const service = scriptedService();
const strict = scriptedService({ strictParams: true });

interface Field {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly documented?: Field;
}
type Fields = Readonly<Record<string, Field>>;
type Body = Readonly<Record<string, unknown>>;

const model = 'default';
const messages = [{ role: 'user', content: 'Hello' }];
const turns = [...messages, { role: 'assistant', content: 'Hi' }, { role: 'user', content: 'Bye' }];
const question = { type: 'choice', instructions: 'Which?', choices: [{ value: 'a' }, { value: 'b' }] };
const local = { model: installed.slashed };

const VALID: Readonly<Record<string, Body>> = {
  chatCompletions: { model, messages },
  completions: { model, prompt: 'a' },
  embeddings: { model: 'default-embedding', input: 'a' },
  rerank: { query: 'a', documents: ['b', 'c'] },
  decisions: { model, input: 'a', questions: [question] },
  tokenize: { model, input: 'a' },
  detokenize: { model, tokens: [65] },
  messages: { model, messages, max_tokens: 8 },
  countTokens: { model, messages },
  responses: { model, input: 'a' },
  inputTokens: { model, input: 'a' },
  compactResponse: { model, input: turns },
  nativeCompletion: { prompt: 'a' },
  infill: { input_prefix: 'a', input_suffix: 'b' },
  nativeTokenize: { content: 'a' },
  ollamaChat: { model, messages, stream: false },
  ollamaGenerate: { model, prompt: 'a', stream: false },
  ollamaEmbed: { model: 'default-embedding', input: 'a' },
  ollamaEmbeddings: { model: 'default-embedding', prompt: 'a' },
  createBatch: { input_file_id: 'file-x', endpoint: '/v1/embeddings', completion_window: '24h' },
  pinCache: { model },
  unpinCache: { id: 'x' },
  unload: { model },
  stopJob: { job: 'x' },
  quit: {},
  pullModel: { ref: 'nobody/nothing' },
  importModel: { path: '/nowhere.gguf' },
  verifyModel: local,
  removeModel: { model: 'nobody' },
  restoreModel: { model: 'nobody' },
  defaultModel: local,
  aliasModel: { ...local, alias: 'other' },
  setModel: { ...local, settings: {} },
  ollamaShow: { model },
  ollamaPull: { model: 'nobody/nothing', stream: false },
  ollamaDelete: { model: 'nobody' },
  ollamaCopy: { source: 'nobody', destination: 'other' },
};
/** Promises, which only the routes that list them may answer. */
const DEMANDS: readonly string[] = ['svc_evidence', 'svc_exact', 'svc_any_order'];
/** Where any object would do, one that says something; streams show what is only for them. */
const SAYING: Readonly<Record<string, Body>> = {
  stream_options: { stream_options: { include_usage: true }, stream: true },
  return_progress: { return_progress: true, stream: true },
  output_config: { output_config: { format: { type: 'json_schema', schema: { type: 'integer' } } } },
  reasoning: { reasoning: { effort: 'none' } },
  text: { text: { format: { type: 'json_object' } } },
};
/** Change nothing, or only what the scripted engine does not tell: progress, and padding of streams. */
const ACCEPTED: readonly string[] = ['cache_control', 'return_progress', 'stream_options'];
/** Left out of the request beside a field that means the same. */
const SAME: Readonly<Record<string, string>> = { name: 'model' };

const listing = Object.entries<Route>(routes).filter(([, { body }]) => body !== undefined);
const bodyFields = ({ body }: Route): Fields => (body as { readonly properties?: Fields }).properties ?? {};
const all: Fields = Object.assign({}, ...listing.map(([, route]) => bodyFields(route)), {
  typo: { type: 'string' },
});

it('knows a request of every route that has a body', () => {
  expect(Object.keys(VALID).toSorted()).toEqual(listing.map(([name]) => name).toSorted());
});

it('finds the same fields in the OpenAPI document', async () => {
  const { paths, components } = (await openApiDocument('1')) as Document;
  for (const [, route] of listing) {
    const operation = paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()];
    const { $ref = '' } = operation?.requestBody?.content['application/json'].schema ?? {};
    const described = components.schemas[$ref.replace('#/components/schemas/', '')]?.properties ?? {};
    expect(Object.keys(described).toSorted(), route.path).toEqual(Object.keys(bodyFields(route)).toSorted());
  }
});

describe.each(
  listing.map(([name, route]) => [`${route.method} ${route.path}`, route, VALID[name] ?? {}] as const),
)('%s', (_, route, valid) => {
  const listed = Object.entries(bodyFields(route));
  const unlisted = Object.entries(all).filter(([name]) => !Object.hasOwn(bodyFields(route), name));

  it('refuses a value of another type with the name of its field', async () => {
    const wrong = listed.flatMap(([name, field]) => othersThan(field).map((value) => ({ [name]: value })));
    const replies = await Promise.all(wrong.map((fields) => ask(service, route, { ...valid, ...fields })));
    const missed = replies.flatMap(({ status, text }, at) => {
      const [name = ''] = Object.keys(wrong[at] ?? {});
      return status === 400 && sentence(text).startsWith(name)
        ? []
        : [`${JSON.stringify(wrong[at])}: ${status} ${text}`];
    });
    expect(missed).toEqual([]);
  });

  it('names what it does not list', async () => {
    const plain = unlisted.filter(([name]) => route.computes !== true || !DEMANDS.includes(name));
    const usual = await effects(route, valid);
    // A header names 32 fields at most, and some fields make others idle.
    for (let from = 0; from < plain.length; from += 24) {
      const part = plain.slice(from, from + 24).map(([name, field]) => [name, candidates(field)[0]] as const);
      const { reply, jobs } = await effects(route, { ...valid, ...Object.fromEntries(part) });
      expect(
        part.filter(([name]) => !named(reply, name)),
        reply.text,
      ).toEqual([]);
      expect(jobs).toEqual(usual.jobs);
    }
    const { status, text } = await ask(strict, route, { ...valid, typo: 1 });
    expect([status, sentence(text)]).toEqual([400, expect.stringMatching(/^typo has no effect here/)]);
  });

  it('refuses to answer without what is demanded', async () => {
    if (route.computes !== true) return;
    for (const [name, field] of unlisted.filter(([each]) => DEMANDS.includes(each))) {
      const { status, text } = await ask(service, route, { ...valid, [name]: candidates(field)[0] });
      expect([status, sentence(text)]).toEqual([400, expect.stringContaining(`does not read ${name}`)]);
    }
  });

  it('obeys what it lists, or names it', async () => {
    if (route.computes !== true) return;
    const plain = await effects(route, valid);
    const missed: string[] = [];
    for (const [name, field] of listed.filter(
      ([each]) => !Object.hasOwn(valid, each) && !ACCEPTED.includes(each),
    )) {
      const { [SAME[name] ?? '']: _same, ...others } = valid;
      const tried: Reply[] = [];
      let has = false;
      const saying: readonly Body[] = Object.hasOwn(SAYING, name) ? [SAYING[name] ?? {}] : [];
      for (const fields of [...candidates(field).map((value): Body => ({ [name]: value })), ...saying]) {
        const { [name]: _own, ...beside } = fields;
        const isUsual = Object.keys(beside).length === 0;
        const { reply: _reply, ...without } = isUsual ? plain : await effects(route, { ...valid, ...beside });
        const { reply, ...effect } = await effects(route, { ...others, ...fields });
        tried.push(reply);
        has ||=
          reply.status === 400
            ? sentence(reply.text).includes(name)
            : named(reply, name) || !isDeepStrictEqual(effect, without);
      }
      if (!has) missed.push(`${name}: ${tried.map(({ status, text }) => `${status} ${text}`).join(' | ')}`);
    }
    expect(missed).toEqual([]);
  });
});

interface Document {
  readonly paths: Record<
    string,
    Record<
      string,
      {
        readonly requestBody?: {
          readonly content: { readonly 'application/json': { readonly schema: { readonly $ref?: string } } };
        };
      }
    >
  >;
  readonly components: { readonly schemas: Record<string, { readonly properties?: object }> };
}

const ask = ({ client }: ScriptedService, { method, path }: Route, body: Body): Promise<Reply> =>
  client.ask({ method, path, body, headers: { 'x-svc-page-token': PAGE_TOKEN } });

function sentence(text: string): string {
  const { error } = JSON.parse(text) as { readonly error?: string | { readonly message: string } };
  return typeof error === 'string' ? error : (error?.message ?? '');
}

const named = ({ headers }: Reply, name: string): boolean =>
  String(headers['x-svc-ignored-params'] ?? '')
    .split(',')
    .some((each) => each === name || each.startsWith(`${name}.`) || each.startsWith(`${name}[`));

const jsonTypes = (field: Field): string[] => [field.type ?? field.documented?.type ?? []].flat();

const OF_TYPE: Readonly<Record<string, unknown>> = {
  string: 'soon',
  number: 1.5,
  boolean: true,
  array: [],
  object: {},
};

function othersThan(field: Field): unknown[] {
  const types = jsonTypes(field);
  return Object.entries(OF_TYPE).flatMap(([type, value]) => (types.includes(type) ? [] : [value]));
}

function candidates(field: Field): unknown[] {
  const { enum: choices, minimum = 1, maximum = 1 } = field;
  if (choices !== undefined) return choices.filter((value) => value !== null);
  const values: Readonly<Record<string, readonly unknown[]>> = {
    string: ['soon'],
    integer: [Math.max(minimum, 3), minimum],
    number: [Math.min(Math.max(minimum, 0.25), maximum)],
    boolean: [true, false],
    array: [['soon']],
    object: [{ soon: true }],
  };
  return jsonTypes(field).flatMap((type) => values[type] ?? []);
}

async function effects(route: Route, body: Body) {
  const from = service.engine.played.length;
  const reply = await ask(service, route, body);
  const jobs = service.engine.played.slice(from).map(({ submission }) => stable(submission));
  return {
    reply,
    status: reply.status,
    jobs,
    body: stable(reply.body ?? reply.text.replaceAll(/[\da-f]{8,}|\d+/g, '0')),
  };
}

const VARIES = /^(?:id|jobId|requestId|acceptedAt|timings|created|created_at|completed_at|\w*_duration)$/;
/** A seed that is not set is drawn from 2^32. */
const isDrawn = (key: string, value: unknown): boolean => key === 'seed' && Number(value) > 1000;
const stable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, each: unknown) => (VARIES.test(key) || isDrawn(key, each) ? 0 : each)),
  );
