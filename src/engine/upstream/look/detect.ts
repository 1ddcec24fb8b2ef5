/** Which dialect an upstream speaks, from what it says of itself anyway. */
import { LIST_LIMITS } from '../limits.ts';
import { field, listOf, textOf } from '../hostile.ts';
import type { Dialect, Upstream } from '../ports.ts';
import type { Ask } from './ask.ts';

const BY_OWNER: Readonly<Record<string, Dialect>> = {
  vllm: 'vllm',
  llamacpp: 'llama-server',
  sglang: 'sglang',
  library: 'ollama',
};

/** `openai` where nothing else shows; rejects where the upstream cannot be asked. */
export async function detectDialect(ask: Ask, upstream: Upstream): Promise<Dialect> {
  const url = `${upstream.baseUrl}/models`;
  if ((await ask.server(upstream, url)).startsWith('hearth/')) return 'hearth';
  const body = await ask.json(upstream, url, { limits: LIST_LIMITS });
  const owners = listOf(field(body, 'data')).map((entry) => textOf(field(entry, 'owned_by')) ?? '');
  return owners.flatMap((owner) => BY_OWNER[owner] ?? [])[0] ?? 'openai';
}
