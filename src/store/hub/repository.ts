/** A repository's content: the commit of a revision, and its files with their digests. All of it is hostile. */
import { listFiles } from '@huggingface/hub';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { fail, isSvcError } from '../../lib/errors/svc-error.ts';
import { isDigest } from '../files/paths.ts';
import { type HubAccess, invalid, requestJson } from './hub-request.ts';

export interface RepositoryFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  /** Git's own hash of a small file, which has no SHA-256. */
  readonly gitSha1: string | null;
}

const COMMIT = /^[0-9a-f]{40}$/;
const MAX_FILES = 50_000;

const Ref = Type.Object({ name: Type.String(), targetCommit: Type.String({ pattern: COMMIT.source }) });
const Refs = Type.Object({ branches: Type.Array(Ref), tags: Type.Optional(Type.Array(Ref)) });

const TreeEntry = Type.Object({
  type: Type.String(),
  path: Type.String({ minLength: 1, maxLength: 1024 }),
  size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  oid: Type.Optional(Type.String()),
  lfs: Type.Optional(
    Type.Object({ oid: Type.String(), size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) }),
  ),
});
type TreeEntry = Static<typeof TreeEntry>;

/** Pins the revision, so that files cannot change during a pull. */
export async function resolveCommit(
  access: HubAccess,
  repo: string,
  revision: string | null,
  signal?: AbortSignal,
): Promise<string> {
  if (revision !== null && COMMIT.test(revision)) return revision;
  const url = new URL(`${base(access)}/api/models/${repo}/refs`);
  const { value: refs } = await requestJson(access, {
    url,
    repo,
    what: `repository ${repo}`,
    ...(signal ? { signal } : {}),
  });
  if (!Check(Refs, refs)) throw invalid(access, 'a list of revisions in another shape');
  const name = revision ?? 'main';
  const all = [...refs.branches, ...(refs.tags ?? [])];
  const found = all.find((ref) => ref.name === name) ?? (revision === null ? refs.branches[0] : undefined);
  if (!found) {
    throw fail('hub_not_found', {
      endpoint: access.endpoint.origin,
      what: `revision ${name} of ${repo}`,
      param: 'ref',
    });
  }
  return found.targetCommit;
}

export async function listRepository(
  access: HubAccess,
  repo: string,
  commit: string,
  signal?: AbortSignal,
): Promise<RepositoryFile[]> {
  const files: RepositoryFile[] = [];
  const listing = listFiles({
    repo,
    revision: commit,
    recursive: true,
    hubUrl: base(access),
    // The library builds requests and follows pages; each request goes through our own checks.
    fetch: fetchThrough(access, repo, signal),
  });
  try {
    for await (const entry of listing) {
      const file = toFile(access, entry);
      if (file) files.push(file);
      if (files.length > MAX_FILES) throw invalid(access, `a listing of more than ${MAX_FILES} files`);
    }
  } catch (error) {
    if (isSvcError(error) || (error instanceof Error && error.name === 'AbortError')) throw error;
    throw fail(
      'hub_invalid',
      { endpoint: access.endpoint.origin, reason: 'a file listing in an unexpected format' },
      error,
    );
  }
  return files;
}

export function fileUrl(access: HubAccess, repo: string, commit: string, path: string): URL {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return new URL(`${base(access)}/${repo}/resolve/${commit}/${encoded}`);
}

function fetchThrough(access: HubAccess, repo: string, signal: AbortSignal | undefined): typeof fetch {
  let pages = 0;
  return async (input) => {
    pages += 1;
    if (pages > MAX_PAGES) throw invalid(access, `a listing of more than ${MAX_PAGES} pages`);
    const url = new URL(input instanceof Request ? input.url : input);
    const { text, link } = await requestJson(access, {
      url,
      repo,
      what: `repository ${repo} at that revision`,
      ...(signal ? { signal } : {}),
    });
    return new Response(text, {
      headers: { 'content-type': 'application/json', ...(link === null ? {} : { link }) },
    });
  };
}

const MAX_PAGES = 200;

function toFile(access: HubAccess, value: unknown): RepositoryFile | null {
  if (!Check(TreeEntry, value)) throw invalid(access, 'a file listing in an unexpected format');
  const entry: TreeEntry = value;
  if (entry.type !== 'file') return null;
  if (
    entry.path.startsWith('/') ||
    entry.path.split('/').some((part) => part === '..' || part === '.' || part === '')
  )
    throw invalid(access, 'a file listing with impossible paths');
  const sha256 = entry.lfs?.oid.replace(/^sha256:/, '') ?? null;
  if (sha256 !== null && !isDigest(sha256)) throw invalid(access, 'a file listing with impossible digests');
  const gitSha1 = entry.oid !== undefined && COMMIT.test(entry.oid) ? entry.oid : null;
  return {
    path: entry.path,
    sizeBytes: entry.lfs?.size ?? entry.size,
    sha256,
    gitSha1: sha256 === null ? gitSha1 : null,
  };
}

function base(access: HubAccess): string {
  return access.endpoint.href.replace(/\/+$/, '');
}
