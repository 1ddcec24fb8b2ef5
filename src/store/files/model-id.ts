/**
 * Model ids: the public names of models, and the only names that become file names. An id is `name`, `owner/name`, or
 * either with `:tag`, in lower case. Everything else is refused here, so that no path separator, device name or
 * control character reaches the file system.
 */
import { FEATURE_HASH_MODEL } from '../../contract/limits.ts';
import { fail } from '../../lib/errors/svc-error.ts';

const PART = '[a-z0-9][a-z0-9._-]{0,79}';
const MODEL_ID = new RegExp(`^${PART}(?:/${PART})?(?::${PART})?$`);
const FOREIGN_CHARACTER = /[^a-z0-9._/:-]/;
const MODEL_NAME = new RegExp(MODEL_ID.source, 'i');
/** Leaves room for encoded separators and a temporary suffix within the usual 255 bytes of a file name. */
const MAX_ID_LENGTH = 160;
/** Windows treats these as devices whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/;
/** Ids with another meaning on the wire: the two aliases and the feature-hash fallback. */
const RESERVED = new Set(['default', 'default-embedding', FEATURE_HASH_MODEL]);

export function isModelId(text: string): boolean {
  return whyNotModelId(text) === null;
}

export function checkModelId(text: string): string {
  const reason = whyNotModelId(text);
  if (reason !== null) throw fail('model_id_invalid', { param: 'id', id: text, reason });
  return text;
}

export function isAlias(text: string): boolean {
  return text.length <= MAX_ID_LENGTH && MODEL_NAME.test(text) && isModelId(text.toLowerCase());
}

function whyNotModelId(text: string): string | null {
  if (text.length === 0) return 'it is empty';
  if (text.length > MAX_ID_LENGTH) return `it is longer than ${MAX_ID_LENGTH} characters`;
  if (RESERVED.has(text)) return 'this name is reserved';
  if (FOREIGN_CHARACTER.test(text)) return 'it contains a character that ids do not allow';
  if (!MODEL_ID.test(text)) return 'it does not have the form of an id';
  if (text.split(/[/:]/).some((part) => DEVICE.test(part)))
    return 'it contains a reserved Windows device name';
  if (/\.(?:[/:]|$)/.test(text)) return 'a part of it ends with a dot';
  return null;
}

/**
 * Makes an id from a file name or hub reference; null if nothing usable remains. `/` and `:` survive only as
 * separators; any other run of foreign characters becomes one dash.
 */
export function toModelId(text: string): string | null {
  const [, path = '', tag] = /^([^:]*)(?::(.*))?$/s.exec(text.normalize('NFKC').toLowerCase()) ?? [];
  const parts = path.split('/').map(toPart).filter(Boolean);
  const name = parts.slice(-2).join('/');
  const tagPart = tag === undefined ? '' : toPart(tag);
  const id = tagPart ? `${name}:${tagPart}` : name;
  return isModelId(id) ? id : null;
}

function toPart(text: string): string {
  return text
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 76)
    .replace(/[^a-z0-9]+$/, '');
}

/** Spellings to try in order: as written, lower case, without `:latest`. */
export function lookupKeys(name: string): readonly string[] {
  const lower = name.toLowerCase();
  const bare = lower.endsWith(':latest') ? lower.slice(0, -':latest'.length) : lower;
  return [...new Set([name, lower, bare, `${bare}:latest`])];
}

export function idToFileName(id: string): string {
  return checkModelId(id).replaceAll('/', '%2f').replaceAll(':', '%3a');
}

export function fileNameToId(name: string): string | null {
  const id = name.replaceAll('%2f', '/').replaceAll('%3a', ':');
  return isModelId(id) && idToFileName(id) === name ? id : null;
}
