/** Reads and writes files of conversations. Files are hostile: only parts of the right form are taken. */
import { freshId } from '../../parts/fresh-id.ts';
import type { AttachedImage, Attachment } from './attachments.ts';
import { type Conversation, type Lane, MOST_FOLDER } from './conversation.ts';
import { type Asked, type Entry, FINISHES, type Measures, type Proof } from './entry.ts';
import { bytesOfUrl, imageSize } from './image-file.ts';
import type { Passage } from './passages.ts';
import type { Preset } from './presets.ts';
import { emptySettings, type Settings, type ToolDraft } from './settings.ts';

const KIND = 'hearth.conversations';
const MOST_BYTES = 64 * 1024 * 1024;

interface Imported {
  readonly conversations: readonly Conversation[];
  readonly presets: readonly Preset[];
}

export function exportFile(conversations: readonly Conversation[], presets: readonly Preset[]): string {
  return JSON.stringify({ kind: KIND, version: 1, conversations, presets }, null, 1);
}

/** Throws a sentence for the user if the file has no conversations. Each gets a new id. */
export function importFile(text: string): Imported {
  if (text.length > MOST_BYTES) throw new Error('The file is larger than 64 MB.');
  const file = parse(text);
  if (!isRecord(file) || file['kind'] !== KIND || !Array.isArray(file['conversations']))
    throw new Error('This file holds no conversations exported from this page.');
  return {
    conversations: file['conversations'].map(readConversation),
    presets: readPresets(file['presets']),
  };
}

/** Those not here yet; entries keep their ids in the file. */
export function newOf(imported: readonly Conversation[], here: readonly Conversation[]): Conversation[] {
  const idsOf = ({ entries }: Conversation): string => entries.map(({ id }) => id).join('\n');
  const known = new Set(here.map(idsOf));
  return imported.filter((each) => !known.has(idsOf(each)));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error('The file is not JSON.', { cause });
  }
}

type Members = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);
const numberOr = <T>(value: unknown, otherwise: T): number | T =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
const listOf = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const oneOf = <T extends string>(value: unknown, known: readonly T[]): T | undefined =>
  known.find((each) => each === value);

function readConversation(value: unknown): Conversation {
  const from = isRecord(value) ? value : {};
  const entries = readEntries(listOf(from['entries']));
  const ids = new Set(entries.map(({ id }) => id));
  const lanes = listOf(from['lanes']).map((lane): Lane => {
    const leaf = textOr(lane['leaf'], '');
    return { model: textOr(lane['model'], 'default'), leaf: ids.has(leaf) ? leaf : null };
  });
  return {
    id: freshId(),
    title: textOr(from['title'], 'Imported').slice(0, 200),
    ...(from['isPinned'] === true ? { isPinned: true as const } : {}),
    ...folderOf(from['folder']),
    changedAt: typeof from['changedAt'] === 'number' ? from['changedAt'] : Date.now(),
    entries,
    lanes: lanes.length > 0 ? lanes : [{ model: 'default', leaf: entries.at(-1)?.id ?? null }],
    settings: readSettings(from['settings']),
  };
}

function folderOf(value: unknown): Pick<Conversation, 'folder'> {
  const name = textOr(value, '').trim().slice(0, MOST_FOLDER);
  return name === '' ? {} : { folder: name };
}

/** Parents must come before their children, which excludes loops. */
function readEntries(values: readonly Members[]): Entry[] {
  const seen = new Set<string>();
  const entries: Entry[] = [];
  for (const value of values) {
    const id = textOr(value['id'], '');
    const role = oneOf(value['role'], ['user', 'assistant', 'tool']);
    const parent = typeof value['parent'] === 'string' ? value['parent'] : null;
    if (id === '' || seen.has(id) || role === undefined || (parent !== null && !seen.has(parent))) continue;
    seen.add(id);
    entries.push({ id, parent, role, text: textOr(value['text'], ''), ...furtherOf(value) });
  }
  return entries;
}

function furtherOf(value: Members): Partial<Entry> {
  const finish = oneOf(value['finish'], FINISHES);
  const files = listOf(value['files']).map(readAttachment);
  const calls = listOf(value['calls']).map((call) => {
    const made = isRecord(call['function']) ? call['function'] : {};
    return {
      id: textOr(call['id'], ''),
      type: 'function' as const,
      function: { name: textOr(made['name'], ''), arguments: textOr(made['arguments'], '') },
    };
  });
  return {
    ...(files.length > 0 ? { files } : {}),
    ...(typeof value['reasoning'] === 'string' ? { reasoning: value['reasoning'] } : {}),
    ...(typeof value['callId'] === 'string' ? { callId: value['callId'] } : {}),
    ...(typeof value['model'] === 'string' ? { model: value['model'] } : {}),
    ...(typeof value['tries'] === 'string' ? { tries: value['tries'] } : {}),
    ...(finish === undefined ? {} : { finish }),
    // Its writer does not run here.
    ...(value['isOpen'] === true ? { finish: 'cut' as const } : {}),
    ...(value['isEdited'] === true ? { isEdited: true as const } : {}),
    ...(calls.length > 0 ? { calls } : {}),
    ...(typeof value['failure'] === 'string' ? { failure: value['failure'] } : {}),
    ...(typeof value['failureCode'] === 'string' ? { failureCode: value['failureCode'] } : {}),
    ...(isRecord(value['proof']) ? { proof: readProof(value['proof']) } : {}),
    ...(isRecord(value['asked']) ? { asked: readAsked(value['asked']) } : {}),
    ...(isRecord(value['measures']) ? { measures: readMeasures(value['measures']) } : {}),
  };
}

function readAttachment(from: Members): Attachment {
  const image = isRecord(from['image']) ? readAttachedImage(from['image']) : null;
  const text = textOr(from['text'], '');
  const passages = readPassages(from['passages'], text.length);
  return {
    name: textOr(from['name'], 'file'),
    text,
    ...(image === null ? {} : { image }),
    ...(passages.length === 0 ? {} : { passages }),
  };
}

function readPassages(value: unknown, length: number): Passage[] {
  let end = 0;
  return listOf(value).flatMap((each) => {
    const [from, to] = [Number(each['from']), Number(each['to'])];
    const isPlace =
      Number.isInteger(from) && Number.isInteger(to) && from >= end && to > from && to <= length;
    if (!isPlace) return [];
    end = to;
    return [{ from, to }];
  });
}

/** Takes the size from the image's bytes, not from the file. */
function readAttachedImage(from: Members): AttachedImage | null {
  const url = textOr(from['url'], '');
  const file = bytesOfUrl(url);
  const size = file === null ? null : imageSize(file);
  return size === null ? null : { url, ...size };
}

/** Ignores the file's verdict, so that this browser checks the record. */
function readProof(from: Members): Proof {
  return {
    record: textOr(from['record'], ''),
    request: textOr(from['request'], ''),
    verdict: 'Record, not checked here yet',
    isVerified: false,
    isUnchecked: true,
  };
}

function readAsked(from: Members): Asked {
  return {
    ...(typeof from['model'] === 'string' ? { model: from['model'] } : {}),
    isJson: from['isJson'] === true,
    limit: numberOr(from['limit'], null),
  };
}

function readMeasures(from: Members): Measures {
  const [promptTokens, cachedTokens, window] = ['promptTokens', 'cachedTokens', 'window'].map((name) =>
    numberOr(from[name], null),
  );
  return {
    firstMs: numberOr(from['firstMs'], null),
    tokensPerSecond: numberOr(from['tokensPerSecond'], null),
    answerTokens: numberOr(from['answerTokens'], 0),
    draftedTokens: numberOr(from['draftedTokens'], 0),
    ...(typeof promptTokens === 'number' ? { promptTokens } : {}),
    ...(typeof cachedTokens === 'number' ? { cachedTokens } : {}),
    ...(typeof window === 'number' ? { window } : {}),
    ...(from['isEstimate'] === true ? { isEstimate: true } : {}),
  };
}

export function readPresets(stored: unknown): Preset[] {
  return listOf(stored).flatMap(({ name, settings }) =>
    typeof name === 'string' && name !== '' ? [{ name, settings: readSettings(settings) }] : [],
  );
}

export function readSettings(stored: unknown): Settings {
  const from = isRecord(stored) ? stored : {};
  const numbers = isRecord(from['numbers']) ? Object.entries(from['numbers']) : [];
  const tools = listOf(from['tools']).map(
    (tool): ToolDraft => ({
      name: textOr(tool['name'], ''),
      description: textOr(tool['description'], ''),
      parameters: textOr(tool['parameters'], '{}'),
      ...(isRecord(tool['from'])
        ? { from: { server: textOr(tool['from']['server'], ''), name: textOr(tool['from']['name'], '') } }
        : {}),
    }),
  );
  return {
    ...emptySettings(),
    system: textOr(from['system'], ''),
    stop: textOr(from['stop'], ''),
    schema: textOr(from['schema'], ''),
    toolChoice: oneOf(from['toolChoice'], ['auto', 'required', 'none']) ?? 'auto',
    effort: oneOf(from['effort'], ['none', 'low', 'medium', 'high']) ?? '',
    numbers: Object.fromEntries(numbers.filter(([, text]) => typeof text === 'string')),
    tools,
  };
}
