import { fail } from '../../lib/errors/svc-error.ts';

export interface HubReference {
  readonly repo: string;
  readonly revision: string | null;
  readonly path: string | null;
  readonly quant: string | null;
}

const HUB_HOSTS = ['huggingface.co', 'www.huggingface.co', 'hf.co'];
const OWNER_OR_REPO = /^\w+(?:[.-]+\w+)*$/;
const QUANT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const REVISION = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/;
const MAX_LENGTH = 1024;

/** `endpoint` is the hub whose URLs are accepted. */
export function parseReference(text: string, endpoint: string): HubReference {
  const bare = text.trim().replace(/^(["'])(.*)\1$/, '$2');
  const refuse = (reason: string) =>
    fail('reference_invalid', { ref: text.slice(0, 200), param: 'ref', reason });
  if (bare === '' || bare.length > MAX_LENGTH) throw refuse(bare === '' ? 'it is empty' : 'it is too long');
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is refused here
  if (/[\u0000-\u0020\u007f-\u00a0\u200e-\u200f\u2028-\u202e\u2066-\u2069\\]/.test(bare))
    throw refuse('it contains spaces or control characters');
  const reference = /^https?:\/\//i.test(bare)
    ? fromUrl(bare, endpoint, refuse)
    : fromShorthand(bare, refuse);
  return checkParts(reference, refuse);
}

type Refuse = (reason: string) => Error;

/** `https://host/owner/repo[/resolve|blob|raw|tree/revision[/path]]`, also with Ollama's `:QUANT`. */
function fromUrl(text: string, endpoint: string, refuse: Refuse): HubReference {
  const url = safeUrl(text);
  if (!url) throw refuse('it is not a complete URL');
  if (!HUB_HOSTS.includes(url.hostname) && url.host !== new URL(endpoint).host)
    throw refuse(`${url.host} is not the configured hub (HF_ENDPOINT)`);
  if (url.username || url.password) throw refuse('it contains credentials');
  const parts = url.pathname
    .split('/')
    .filter(Boolean)
    .map((part) => decode(part, refuse));
  const [owner = '', last = '', verb, ...rest] = parts;
  const [name = '', quant = null] = last.split(':');
  const plain = { repo: `${owner}/${name}`, revision: null, path: null, quant };
  if (verb === undefined) return plain;
  if (!['resolve', 'blob', 'raw', 'tree'].includes(verb))
    throw refuse(`its part "${verb}" is not understood`);
  const isPullRequest = rest[0] === 'refs';
  const revision = isPullRequest ? rest.slice(0, 3).join('/') : (rest[0] ?? null);
  const path = rest.slice(isPullRequest ? 3 : 1).join('/');
  return { ...plain, revision, path: verb === 'tree' || path === '' ? null : path };
}

/** `[hf:][hf.co/]owner/repo[/path/file.gguf][:QUANT][#revision]` */
function fromShorthand(text: string, refuse: Refuse): HubReference {
  const [withoutRevision = '', revision = null, ...tooMany] = text.split('#');
  if (tooMany.length > 0) throw refuse('it contains more than one "#"');
  const bare = withoutRevision
    .replace(/^hf:(?:\/\/)?/i, '')
    .replace(/^(?:www\.)?(?:huggingface\.co|hf\.co)\//i, '');
  const [path = '', quant = null, ...more] = bare.split(':');
  if (more.length > 0) throw refuse('it contains more than one ":"');
  const [owner = '', name = '', ...rest] = path.split('/').filter(Boolean);
  if (owner === '' || name === '') throw refuse('it names no repository (owner/name)');
  const file = rest.join('/');
  if (file !== '' && quant !== null) throw refuse('it names both a file and a quant');
  return { repo: `${owner}/${name}`, revision, path: file === '' ? null : file, quant };
}

function checkParts(reference: HubReference, refuse: Refuse): HubReference {
  const [owner = '', name = ''] = reference.repo.split('/');
  if (!OWNER_OR_REPO.test(owner) || !OWNER_OR_REPO.test(name) || reference.repo.length > 200)
    throw refuse('its repository is not written owner/name');
  if (reference.quant !== null && !QUANT.test(reference.quant))
    throw refuse('its quant has unusual characters');
  if (reference.revision !== null && (!REVISION.test(reference.revision) || hasDots(reference.revision)))
    throw refuse('its revision has unusual characters');
  if (reference.path !== null && hasDots(reference.path)) throw refuse('its path contains ".."');
  if (reference.path !== null && !/\.gguf$/i.test(reference.path))
    throw refuse('the file it names is not a .gguf file');
  return reference;
}

function hasDots(path: string): boolean {
  return path.split('/').some((part) => part === '..' || part === '.');
}

function decode(part: string, refuse: Refuse): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refuse('its percent-encoding is invalid');
  }
}

function safeUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
