/**
 * server/engine/upstream/look owns requests to an upstream outside jobs: its models and its health. It does not know the
 * consequences, and none of its requests makes an upstream compute. A missing value is unknown, not zero.
 */
import type { ModelKind } from '../../../../contract/load.ts';
import type { Medium } from '../../ports.ts';
import { broken } from '../failures.ts';
import { readCount, field, readList, readText } from '../untrusted.ts';
import { LIST_LIMITS, UPSTREAM_LIMITS } from '../limits.ts';
import type { Dialect, Upstream, UpstreamModel } from '../ports.ts';
import type { Ask } from './ask.ts';

interface Entry {
  readonly name: string;
  readonly fields: unknown;
}

type Reader = (ask: Ask, upstream: Upstream, entry: Entry) => UpstreamModel | Promise<UpstreamModel>;

/** In the upstream's order, each name once. */
export async function listModels(ask: Ask, upstream: Upstream): Promise<UpstreamModel[]> {
  const body = await ask.json(upstream, `${upstream.baseUrl}/models`, { limits: LIST_LIMITS });
  const data = field(body, 'data');
  if (!Array.isArray(data)) throw broken(upstream.name, 'rubbish', 'it lists no models');
  const names = new Set<string>();
  const entries = data.slice(0, UPSTREAM_LIMITS.models).flatMap((fields: unknown): Entry[] => {
    const name = readText(field(fields, 'id'));
    // Two Hearths that are each other's upstreams would list each other's models for ever.
    const isPassedOn =
      upstream.dialect === 'hearth' && ['remote', 'pool'].includes(String(field(fields, 'engine')));
    if (isPassedOn || name === undefined || !isUsableName(name) || names.has(name)) return [];
    names.add(name);
    return [{ name, fields }];
  });
  return inLanes(entries, async (entry) => READERS[upstream.dialect](ask, upstream, entry));
}

/** A long list must not open a connection for each of its models at once. */
async function inLanes<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  const lane = async (): Promise<void> => {
    for (const [at, item] of left) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: UPSTREAM_LIMITS.asksAtOnce }, lane));
  return results;
}

/** Names must fit into an id, a header and a sentence. */
function isUsableName(name: string): boolean {
  return name.length > 0 && name.length <= UPSTREAM_LIMITS.nameChars && /^[\x21-\x7e]+$/.test(name);
}

const plain: Reader = (_ask, _upstream, { name, fields }) => ({
  name,
  kind: kindByName(name),
  contextLength:
    readCount(field(fields, 'max_model_len')) ??
    readCount(field(fields, 'context_length')) ??
    readCount(field(fields, 'context_window')) ??
    null,
  media: null,
  embeddingWidth: null,
  reasoning: null,
  digest: null,
});

/** `meta` has facts while the model is loaded; `/props` has media and the window of a slot. */
const llamaServer: Reader = async (ask, upstream, entry) => {
  const base = await plain(ask, upstream, entry);
  const meta = field(entry.fields, 'meta');
  const props = await ask.tryJson(upstream, `${apiRoot(upstream.baseUrl)}/props`);
  const modalities = field(props, 'modalities');
  const slot = readCount(field(field(props, 'default_generation_settings'), 'n_ctx'));
  const media: Medium[] = [
    ...(field(modalities, 'vision') === true ? (['image'] as const) : []),
    ...(field(modalities, 'audio') === true ? (['audio'] as const) : []),
  ];
  return {
    ...base,
    contextLength:
      slot ?? readCount(field(meta, 'n_ctx')) ?? readCount(field(meta, 'n_ctx_train')) ?? base.contextLength,
    media: modalities === undefined ? null : media,
    embeddingWidth: readCount(field(meta, 'n_embd')) ?? null,
  };
};

const ollama: Reader = async (ask, upstream, entry) => {
  const base = await plain(ask, upstream, entry);
  const shown = await ask.tryJson(upstream, `${apiRoot(upstream.baseUrl)}/api/show`, { model: entry.name });
  if (shown === undefined) return base;
  const info = field(shown, 'model_info');
  const architecture = readText(field(info, 'general.architecture')) ?? '';
  // The Modelfile decides; without it Ollama chooses a window that it does not report.
  const set = /^num_ctx\s+(\d{1,9})$/m.exec(readText(field(shown, 'parameters')) ?? '')?.[1];
  const trained = readCount(field(info, `${architecture}.context_length`)) ?? base.contextLength;
  const capabilities = readList(field(shown, 'capabilities'));
  const isChat = capabilities.length === 0 ? base.kind === 'chat' : capabilities.includes('completion');
  return {
    ...base,
    kind: isChat ? 'chat' : 'embedding',
    contextLength: set === undefined ? trained : Math.min(Number(set), trained ?? Infinity),
    embeddingWidth: readCount(field(info, `${architecture}.embedding_length`)) ?? null,
    media: capabilities.includes('vision') ? ['image'] : [],
    reasoning: capabilities.includes('thinking'),
  };
};

const hearth: Reader = async (ask, upstream, entry) => {
  const base = await plain(ask, upstream, entry);
  const { fields } = entry;
  const capabilities = readList(field(fields, 'capabilities'));
  const digest = /^sha256:([0-9a-f]{64})$/.exec(readText(field(fields, 'digest')) ?? '')?.[1];
  const kind = readText(field(fields, 'kind'));
  return {
    ...base,
    kind: kind === 'embedding' || kind === 'chat' ? kind : base.kind,
    media: [
      ...(capabilities.includes('vision') ? (['image'] as const) : []),
      ...(capabilities.includes('audio') ? (['audio'] as const) : []),
    ],
    reasoning: capabilities.includes('reasoning'),
    digest: digest ?? null,
  };
};

const READERS: Readonly<Record<Dialect, Reader>> = {
  openai: plain,
  vllm: plain,
  sglang: plain,
  'llama-server': llamaServer,
  ollama,
  hearth,
};

/** OpenAI's list does not state the kind of a model; names of embedding models do. */
function kindByName(name: string): ModelKind {
  return /embed|(?:^|[/_-])(?:bge|gte|e5|minilm|nomic-bert|jina-clip)(?:[._-]|$)/i.test(name)
    ? 'embedding'
    : 'chat';
}

export function apiRoot(baseUrl: string): string {
  return baseUrl.replace(/\/v1$/, '');
}
