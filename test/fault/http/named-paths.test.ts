/**
 * Nothing that a request says is the path of a file of the service: each route with each of its fields, and with fields
 * that other programs take paths in. A file that is there and one that is not get the same answer, byte for byte, whatever
 * the file holds; so nothing of either is told, and nothing is read.
 */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { paramNames } from '../../../src/store/registry/param-names.ts';
import { REQUEST_HEADERS, SESSION_HEADERS } from '../../../src/wire/headers.ts';
import { type Route, routes } from '../../../src/wire/routes.ts';
import { installed, PAGE_TOKEN, scriptedService } from '../../support/http/scripted-service.ts';
import { tinyModels } from '../../support/tiny-models.ts';

const KEY = 'sk-of-an-ordinary-client';
const keyed = scriptedService({ apiKey: KEY });
const SECRET = 'marker-of-the-secret';

/** Files of several kinds, which the test removes and puts back. */
let folder: string;
const FILES = {
  'model.gguf': (file: string) => copyFile(tinyModels.chat, file),
  'chat.jinja': (file: string) => writeFile(file, `${SECRET} {{ messages[0].content }}`),
  'format.json': (file: string) =>
    writeFile(file, JSON.stringify({ thinking: { open: SECRET, close: 'x' } })),
  'plain.txt': (file: string) => writeFile(file, SECRET),
} as const;
const OF_TWO_KINDS = ['model.gguf', 'chat.jinja'] as const;

async function put(there: boolean): Promise<void> {
  for (const [name, write] of Object.entries(FILES)) {
    const file = path.join(folder, name);
    await (there ? write(file) : rm(file, { force: true }));
  }
}

beforeAll(async () => {
  folder = path.join(keyed.home, 'named');
  await mkdir(folder);
});

/** Ways to name the same file. */
function waysTo(name: string): string[] {
  const file = path.join(folder, name);
  return [
    file,
    path.relative(process.cwd(), file),
    `./${path.relative(process.cwd(), file)}`,
    `~/${path.relative(homedir(), file)}`,
    `file://${file}`,
    `/proc/self/root${file}`,
  ];
}

/** Files that stay, and names as long of some that are not there. */
const STAYING = (): readonly (readonly [there: string, missing: string])[] => [
  [path.join(keyed.home, 'instance', 'key.pem'), path.join(keyed.home, 'instance', 'key.pen')],
  ['/etc/passwd', '/etc/passwe'],
  ['/proc/self/environ', '/proc/self/enviroo'],
  ['/dev/zero', '/dev/zerp'],
  [folder, `${folder.slice(0, -1)}e`],
];

const chat = { model: installed.chat, messages: [{ role: 'user', content: 'Hello' }] };
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
/** One usable body for each route that takes one, with what may stand deep inside. */
const BODIES: Readonly<Record<string, object>> = {
  chat_completions: {
    ...chat,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: 'x' } },
          { type: 'file', file: { file_id: 'x', filename: 'x', file_data: 'x' } },
        ],
      },
    ],
    tools: [{ ...tool, function: { ...tool.function, parameters: { $ref: 'x' } } }],
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { $ref: 'x' } } },
    lora: [{ name: 'x', scale: 1 }],
  },
  completions: { model: installed.chat, prompt: 'x', suffix: 'x' },
  embeddings: { model: installed.embedding, input: ['x'] },
  rerank: { model: installed.embedding, query: 'x', documents: ['x', { text: 'x' }] },
  decisions: { model: installed.chat, input: 'x', questions: [{ type: 'predicate', instructions: 'x' }] },
  tokenize: { model: installed.chat, content: 'x' },
  detokenize: { model: installed.chat, tokens: [1] },
  messages: {
    model: installed.chat,
    max_tokens: 4,
    messages: [
      { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'x' } }] },
      { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'x' } }] },
    ],
  },
  messages_count_tokens: chat,
  responses: {
    model: installed.chat,
    input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'x', file_id: 'x' }] }],
    previous_response_id: 'x',
  },
  responses_input_tokens: { model: installed.chat, input: 'x' },
  responses_compact: { model: installed.chat, input: 'x', context_management: [{ type: 'compaction' }] },
  cancel_response: {},
  send_file: {},
  create_batch: { input_file_id: 'x', endpoint: '/v1/chat/completions', completion_window: '24h' },
  cancel_batch: {},
  llama_server_completion: { prompt: 'x', grammar: 'root ::= "a"', lora: [{ id: 'x', scale: 1 }] },
  llama_server_infill: { input_prefix: 'x', input_suffix: 'x', input_extra: [{ text: 'x', filename: 'x' }] },
  llama_server_tokenize: { content: 'x' },
  pin_cache: { model: 'x' },
  unpin_cache: { id: 'x' },
  unload: { model: 'x' },
  quit: { now: false },
  stop_job: { job: 'x' },
  pull_model: { ref: 'x', id: 'x' },
  import_model: { path: 'x', id: 'x', store: 'ollama' },
  verify_model: { model: 'x' },
  remove_model: { model: 'x' },
  restore_model: { model: 'x' },
  default_model: { model: 'x' },
  alias_model: { model: installed.chat, alias: 'x' },
  set_model: {
    model: installed.chat,
    settings: Object.fromEntries(Object.keys(paramNames).map((name) => [name, null])),
  },
  page_token: {},
  ollama_show: { model: 'x' },
  ollama_chat: {
    model: installed.chat,
    messages: [
      { role: 'user', content: 'x', images: ['x'] },
      { role: 'tool', tool_name: 'x', content: 'x' },
    ],
    format: { $ref: 'x' },
  },
  ollama_generate: { model: installed.chat, prompt: 'x', suffix: 'x', system: 'x', images: ['x'] },
  ollama_embed: { model: installed.embedding, input: ['x'] },
  ollama_embeddings: { model: installed.embedding, prompt: 'x' },
  ollama_pull: { model: 'x' },
  ollama_delete: { model: 'nobody' },
  ollama_copy: { source: installed.chat, destination: 'x' },
};

/** Fields in which other servers take files of theirs. */
const FILE_FIELDS = [
  'path',
  'file',
  'filename',
  'model_path',
  'model_file',
  'mmproj',
  'grammar_file',
  'json_schema_file',
  'chat_template',
  'chat_template_file',
  'template',
  'tool_format',
  'lora',
  'lora_adapters',
  'control_vectors',
  'draft_model',
  'model_draft',
  'slot_save_path',
  'prompt_file',
  'system_prompt_file',
  'adapter_path',
  'modelfile',
  'prompt_cache',
  'cache_path',
  'files',
  'from',
]; // prettier-ignore

/** Routes of llama-server and Ollama that save, load or install by path. */
const OTHER_ROUTES = [
  ['POST', '/slots/0?action=save'],
  ['POST', '/slots/0?action=restore'],
  ['POST', '/lora-adapters'],
  ['POST', '/models/load'],
  ['POST', '/models/unload'],
  ['POST', '/props'],
  ['POST', '/api/create'],
  ['POST', '/api/blobs/sha256:0'],
] as const;

interface Probe {
  readonly name: string;
  readonly method: string;
  readonly url: (named: string) => string;
  readonly body?: (named: string) => unknown;
  readonly headers?: (named: string) => Record<string, string>;
}

function probesOf(route: Route): Probe[] {
  const fill = (named: string) => route.path.replace(/:id|\*/, encodeURIComponent(named));
  const raw = (named: string) => route.path.replace(/:id|\*/, named);
  const plain = route.path.replace(/:id|\*/, 'x');
  const { method } = route;
  const base = BODIES[route.name];
  const with_ = (body: unknown) => (base === undefined ? {} : { body: () => body });
  const probes: Probe[] =
    plain === route.path
      ? []
      : [fill, raw].map((url, at) => ({ name: `path ${at}`, method, url, ...with_(base) }));
  for (const field of Object.keys(propertiesOf(route.query))) {
    probes.push({
      name: `query ${field}`,
      method,
      url: (named) => `${plain}?${field}=${encodeURIComponent(named)}`,
      ...with_(base),
    });
  }
  for (const header of [...Object.values(REQUEST_HEADERS), ...SESSION_HEADERS]) {
    probes.push({
      name: `header ${header}`,
      method,
      url: () => plain,
      headers: (named) => ({ [header]: named }),
      ...with_(base),
    });
  }
  if (base === undefined) return probes;
  for (const [at, place] of leavesOf(base).entries()) {
    probes.push({
      name: `leaf ${at} ${place.join('.')}`,
      method,
      url: () => plain,
      body: (named) => replaced(base, place, named),
    });
  }
  const fields = Object.keys(propertiesOf(route.body));
  for (const field of fields) {
    for (const given of [(named: string) => named, (named: string) => [named]]) {
      probes.push({
        name: `field ${field}`,
        method,
        url: () => plain,
        body: (named) => ({ ...base, [field]: given(named) }),
      });
    }
  }
  const others = FILE_FIELDS.filter((field) => !fields.includes(field));
  const body = (named: string) => ({ ...base, ...Object.fromEntries(others.map((field) => [field, named])) });
  return [...probes, { name: 'fields of other programs', method, url: () => plain, body }];
}

const propertiesOf = (schema: unknown): object =>
  (schema as { properties?: object } | undefined)?.properties ?? {};

function leavesOf(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...at, key]));
}

function replaced(value: unknown, [key, ...rest]: readonly string[], named: string): unknown {
  if (key === undefined) return named;
  if (Array.isArray(value))
    return value.map((item, at) => (String(at) === key ? replaced(item, rest, named) : item));
  return { ...(value as object), [key]: replaced((value as Record<string, unknown>)[key], rest, named) };
}

async function answer(probe: Probe, named: string, extra: Record<string, string>): Promise<string> {
  const body = probe.body?.(named);
  const response = await fetch(new URL(keyed.url + probe.url(named)), {
    method: probe.method,
    headers: {
      authorization: `Bearer ${KEY}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...extra,
      ...probe.headers?.(named),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  return `${response.status} ${response.headers.get('x-svc-error-code') ?? ''} ${settled(text)}`;
}

/** Without what differs between any two answers. */
const settled = (text: string): string =>
  text
    .replaceAll(/\b(?:req|resp|msg|rs|fc|call|chatcmpl|cmpl)[_-][\w-]+/g, 'ID')
    .replaceAll(/"(?:created|created_at|completed_at|issued_at)":\s?[\d.]+/g, 'TIME')
    .replaceAll(/"(?:at|time|timestamp|created_at|expires_at|signature|sig)":\s?"[^"]*"/g, 'TIME')
    .replaceAll(/"(?:seed|free_bytes|[a-z_]*_(?:ms|duration)|number)":\s?-?[\d.]+/g, 'COUNT');

/** Probes whose answers differ when the files are there and when they are not, or show what one holds. */
async function tells(
  probes: readonly Probe[],
  named: readonly string[],
  extra: Record<string, string> = {},
): Promise<string[]> {
  const all = async (): Promise<string[]> => {
    const answers: string[] = [];
    for (const probe of probes)
      for (const each of named) answers.push(`${probe.name} ${each}: ${await answer(probe, each, extra)}`);
    return answers;
  };
  await put(true);
  const there = await all();
  await put(false);
  const missing = await all();
  return there.flatMap((one, at) =>
    one === missing[at] && !one.includes(SECRET) ? [] : [`${one}\n${missing[at]}`],
  );
}

/** The same for files that stay: two names that differ in one letter. */
async function differ(probe: Probe, extra: Record<string, string> = {}): Promise<string[]> {
  const found: string[] = [];
  for (const [there, missing] of STAYING()) {
    const [one, other] = [await answer(probe, there, extra), await answer(probe, missing, extra)];
    if (one.replaceAll(there, 'NAME') !== other.replaceAll(missing, 'NAME'))
      found.push(`${probe.name} ${one}\n${other}`);
  }
  return found;
}

/** What only shows figures of the moment, and looks at nothing that it is told. */
const OF_THE_MOMENT = ['metrics', 'events', 'engine', 'requests', 'request_archive'];

describe('a path in a request', () => {
  const asked = Object.values<Route>(routes).filter(({ name }) => !OF_THE_MOMENT.includes(name));

  it('has a body for each route that takes one', () => {
    const without = asked.filter(
      ({ name, method, body }) => (method === 'POST' || body !== undefined) && BODIES[name] === undefined,
    );
    expect(without.map(({ name }) => name)).toEqual([]);
    expect(asked.length).toBeGreaterThan(40);
  });

  it.each(asked)('is nothing to $method $path', async (route) => {
    const named = OF_TWO_KINDS.map((name) => path.join(folder, name));
    expect(await tells(probesOf(route), named)).toEqual([]);
  });

  it.each(OTHER_ROUTES)('is nothing to %s %s', async (method, url) => {
    const body = (named: string) => Object.fromEntries(FILE_FIELDS.map((field) => [field, named]));
    expect(await answer({ name: url, method, url: () => url, body }, '/etc/passwd', {})).toMatch(
      /^404 route_not_found/,
    );
  });

  it('is no value of a setting, whatever it is written as, and leaves the settings as they were', async () => {
    const before = (await keyed.client.get('/svc/models')).text;
    // A text that ends answers is only that.
    const names = Object.keys(paramNames).filter((name) => name !== 'stop');
    const probes = names.map((name): Probe => {
      const body = (named: string) => ({ model: installed.chat, settings: { [name]: named } });
      return { name, method: 'POST', url: () => '/svc/models/settings', body };
    });
    const ofText = probes.filter(({ name }) =>
      ['template', 'tool_format', 'lora', 'draft_model'].includes(name),
    );
    expect(ofText).toHaveLength(4);
    expect(await tells(probes, [path.join(folder, 'chat.jinja')])).toEqual([]);
    expect(await tells(ofText, Object.keys(FILES).flatMap(waysTo))).toEqual([]);
    for (const probe of ofText) expect(await differ(probe)).toEqual([]);
    // A system prompt may be any text, and is that text.
    const system = (named: string | null) => ({ model: installed.chat, settings: { system: named } });
    const set: Probe = {
      name: 'system',
      method: 'POST',
      url: () => '/svc/models/settings',
      body: () => system(null),
    };
    expect(await answer(set, '', {})).toMatch(/^200 /);
    expect((await keyed.client.get('/svc/models')).text).toBe(before);
  });

  it('is not imported for whoever has a key', async () => {
    const probes = [{}, { copy: true }, { store: 'llama.cpp' }].map((given, at): Probe => {
      const body = (named: string) => ({ ...given, path: named });
      return { name: `import ${at}`, method: 'POST', url: () => '/svc/models/import', body };
    });
    expect(await tells(probes, Object.keys(FILES).flatMap(waysTo))).toEqual([]);
    for (const probe of probes) {
      expect(await differ(probe)).toEqual([]);
      expect(await answer(probe, '/etc/passwd', {})).toMatch(/^403 owner_required/);
    }
    expect(await keyed.registry.list()).toHaveLength(3);
  });

  it('is no model to fetch, restore, remove, verify or choose', async () => {
    const fields = { pull: 'ref', restore: 'model', remove: 'model', verify: 'model', default: 'model' };
    const probes = Object.entries(fields).map(([name, field]): Probe => {
      const body = (named: string) => ({ [field]: named });
      return { name, method: 'POST', url: () => `/svc/models/${name}`, body };
    });
    expect(await tells(probes, Object.keys(FILES).flatMap(waysTo))).toEqual([]);
    for (const probe of probes) expect(await differ(probe)).toEqual([]);
  });

  it('is imported for the user who runs the service, which shows that the check can fail', async () => {
    const body = (named: string) => ({ path: named });
    const probe: Probe = { name: 'import', method: 'POST', url: () => '/svc/models/import', body };
    const owner = { 'x-svc-page-token': PAGE_TOKEN };
    const [found] = await tells([probe], [path.join(folder, 'model.gguf')], owner);
    expect(found).toMatch(/"ok":true[^]*404 file_not_found/);
  });
});
