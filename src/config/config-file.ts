import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { didYouMean, nearest } from '../lib/base/nearest.ts';
import { settings } from './settings.ts';

export interface ConfigFile {
  readonly path: string;
  readonly exists: boolean;
  readonly entries: ReadonlyMap<string, { readonly text: string; readonly where: string }>;
  readonly problems: readonly string[];
}

export const configFilePath = (home: string): string => path.join(home, 'config.toml');

/** SVC_KEEP_ALIVE → keep_alive. */
export function fileKey(setting: { readonly env: string }): string {
  return setting.env.slice('SVC_'.length).toLowerCase();
}

export function readConfigFile(home: string): ConfigFile {
  const file = configFilePath(home);
  const none = { path: file, exists: existsSync(file), entries: new Map(), problems: [] };
  if (!none.exists) return none;
  try {
    // Reading a pipe would block for ever.
    if (!statSync(file).isFile()) throw new Error('it is not a plain file');
    const source = readFileSync(file, 'utf8');
    return { ...none, ...sort(parse(source), file, source) };
  } catch (cause) {
    return { ...none, problems: [unreadable(cause as Error, file)] };
  }
}

function sort(table: Readonly<Record<string, unknown>>, file: string, source: string) {
  const known = new Set(Object.values(settings).map(fileKey));
  known.delete(fileKey(settings.home));
  const entries = new Map<string, { text: string; where: string }>();
  const problems: string[] = [];
  for (const [key, value] of Object.entries(table)) {
    const where = `${file}${lineHint(key, source)}`;
    if (isTable(value)) problems.push(`${where}: ${noTable(key)}`);
    else if (known.has(key)) entries.set(key, { text: settingText(value), where });
    else problems.push(`${where}: ${whyNot(key)}`);
  }
  return { entries, problems };
}

function whyNot(key: string): string {
  if (key === fileKey(settings.home))
    return 'home cannot be set here, because the file is read from that folder; use SVC_HOME or --home.';
  const named = Object.values(settings).find(({ env }) => env === key.toUpperCase());
  if (named !== undefined) return `write ${fileKey(named)} instead of ${key}.`;
  const nearby = didYouMean(nearest(key.replace(/^SVC_/i, ''), Object.values(settings).map(fileKey)));
  return `there is no setting "${key}"; write those of hearth config without SVC_ and in lower case.${nearby}`;
}

/** A setting is a text, a number, a flag or a list of texts. */
const isTable = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isTable) : typeof value === 'object' && !(value instanceof Date);

const noTable = (key: string): string =>
  `this file has no tables such as [${key}]; write each setting as name = value.`;

function unreadable(cause: Error, file: string): string {
  if (!(cause instanceof TomlError)) return `${file} cannot be read: ${cause.message}.`;
  const [first = ''] = cause.message.split('\n');
  const reason = first.replace(/^Invalid TOML document: /, '');
  return `${file}, line ${cause.line}, column ${cause.column}: this is not valid TOML (${reason}).`;
}

/** Line of a top-level key; empty if its form is not recognised. */
function lineHint(key: string, source: string): string {
  const lines = source.split('\n').map((line) => line.trimStart().replace(/^["']/, ''));
  const at = lines.findIndex((line) => {
    const bare = line.replace(/^\[+\s*/, '');
    return bare.startsWith(key) && /^["']?\s*[.=\]]/.test(bare.slice(key.length));
  });
  return at === -1 ? '' : `, line ${at + 1}`;
}

function settingText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}
