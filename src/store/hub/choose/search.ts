/**
 * store/hub/choose owns looking before a pull: searching a hub, listing a repository's quants, and translating names
 * of other programs. It downloads nothing and knows nothing of what is installed. This file: words → repositories
 * with GGUF files.
 */
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { fail } from '../../../lib/errors/svc-error.ts';
import { type AccessOptions, openAccess } from '../access.ts';
import { invalid, requestJson } from '../hub-request.ts';

export interface LookOptions extends AccessOptions {
  readonly offline?: boolean;
  readonly signal?: AbortSignal;
}

const MOST_FOUND = 20;
const Found = Type.Array(
  Type.Object({
    id: Type.String({ pattern: '^[\\w.-]+/[\\w.-]+$', maxLength: 200 }),
    downloads: Type.Optional(Type.Integer({ minimum: 0 })),
    likes: Type.Optional(Type.Integer({ minimum: 0 })),
    gated: Type.Optional(Type.Union([Type.Boolean(), Type.String({ maxLength: 20 })])),
  }),
  { maxItems: 1_000 },
);

export interface FoundRepository {
  readonly repo: string;
  readonly downloads: number;
  readonly likes: number;
  readonly gated: boolean;
}

/** Most downloaded first. Rejects with `hub_offline` in offline mode. */
export async function searchHub(
  words: readonly string[],
  options: LookOptions = {},
): Promise<FoundRepository[]> {
  if (options.offline === true) throw fail('hub_offline', {});
  const access = openAccess(options);
  const url = new URL(`${access.endpoint.href.replace(/\/+$/, '')}/api/models`);
  const asked = { search: words.join(' '), filter: 'gguf', sort: 'downloads', direction: '-1' };
  for (const [name, value] of Object.entries({ ...asked, limit: String(MOST_FOUND) }))
    url.searchParams.set(name, value);
  const { signal } = options;
  const request = { url, repo: 'models', what: 'search for models', ...(signal ? { signal } : {}) };
  const { value: found } = await requestJson(access, request);
  if (!Check(Found, found)) throw invalid(access, 'search results in an unexpected format');
  const results: Static<typeof Found> = found;
  return results.slice(0, MOST_FOUND).map(({ id, downloads = 0, likes = 0, gated = false }) => ({
    repo: id,
    downloads,
    likes,
    gated: gated !== false,
  }));
}
