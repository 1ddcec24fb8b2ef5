import {
  BASE_MODEL_TOKENS,
  CHOSEN_TEMPLATE_TOKENS,
  EMBEDDING_WIDTH,
  LEAST_CTX,
} from '../../contract/limits.ts';
import { MODEL_ROWS } from '../../contract/sampling-shapes.ts';
import { PRIVACIES } from '../../contract/settings/privacy.ts';
import type { SettableModels, SettingGroup } from '../../contract/settings/load-settings.ts';
import { LOAD_SETTING_ROWS } from '../../contract/settings/shapes.ts';
import { type ModelParams, NATIVE_WIDTH, TOKEN_IDS } from '../files/manifest.ts';
import { COMPACT_EXPECTS, DIMENSIONS_EXPECTS, SYSTEM_EXPECTS } from './param-names.ts';

export interface ParamRow {
  readonly name: string;
  readonly group: SettingGroup;
  readonly description: string;
  readonly unset: string;
  readonly models: SettableModels;
  readonly input: ParamInput;
}

export type ParamInput =
  | { readonly kind: 'choice'; readonly words: readonly string[] }
  | { readonly kind: 'number'; readonly least?: number; readonly most?: number; readonly isWhole: boolean }
  | { readonly kind: 'text'; readonly expects: string; readonly words: readonly string[] }
  | { readonly kind: 'document'; readonly expects: string; readonly words: readonly string[] }
  /** One text per line, with `\n` for a line break within one. */
  | { readonly kind: 'lines' };

const OF_ANSWERS = { group: 'answers', models: 'chat' } as const;

export const PARAM_ROWS: readonly ParamRow[] = [
  {
    group: 'answers',
    models: 'all',
    name: 'num_ctx',
    description:
      'Context window, tokens: how much of a conversation the model sees, its answer included; of a model that does not chat, the longest input. At most what it was trained for.',
    unset: 'as much as memory allows',
    input: { kind: 'number', least: LEAST_CTX, isWhole: true },
  },
  {
    ...OF_ANSWERS,
    name: 'max_tokens',
    description: 'Where an answer ends at the latest, tokens.',
    unset: `the end of the window; without a chat template or an end token in the file, ${BASE_MODEL_TOKENS} tokens; where template is set, or the template writes no end token, ${CHOSEN_TEMPLATE_TOKENS}`,
    input: { kind: 'number', least: 0, isWhole: true },
  },
  {
    ...OF_ANSWERS,
    name: 'stop',
    description: 'Texts that end an answer as soon as one of them appears.',
    unset: 'none',
    input: { kind: 'lines' },
  },
  {
    group: 'answers',
    models: 'all',
    name: 'keep_alive',
    description: 'How long the model stays in memory after its last request.',
    unset: '`SVC_KEEP_ALIVE`',
    input: {
      kind: 'text',
      expects: 'a duration such as 30s or 10m, 0, or -1 for ever',
      words: ['10m', '1h', '0', '-1'],
    },
  },
  {
    ...OF_ANSWERS,
    name: 'system',
    description:
      'The system message of chats that have none, in every dialect. Mode frozen-v1 uses only what the request says.',
    unset: 'none',
    input: { kind: 'document', expects: SYSTEM_EXPECTS, words: [] },
  },
  {
    ...OF_ANSWERS,
    name: 'compact',
    description:
      'From where on old results of tools are cleared, and then old turns summarised: a share of the window, or tokens.',
    unset: 'never',
    input: { kind: 'text', expects: COMPACT_EXPECTS, words: ['75%', '90%'] },
  },
  {
    group: 'answers',
    models: 'embedding',
    name: 'dimensions',
    description: 'How many numbers a vector has; native is the width of the model.',
    unset: String(EMBEDDING_WIDTH),
    input: { kind: 'text', expects: DIMENSIONS_EXPECTS, words: [NATIVE_WIDTH, String(EMBEDDING_WIDTH)] },
  },
  {
    group: 'answers',
    models: 'embedding',
    name: 'token_ids',
    description:
      'Token ids in place of texts: own takes them for ids of the model, auto only where at least 16 of them are the encoding of a text.',
    unset: 'auto',
    input: { kind: 'choice', words: TOKEN_IDS },
  },
  {
    group: 'answers',
    models: 'all',
    name: 'privacy',
    description:
      'How far requests for this model may go: no farther than this machine (local), the local network (lan) or anywhere (remote).',
    unset: 'as far as requests and keys allow',
    input: { kind: 'choice', words: PRIVACIES },
  },
  ...MODEL_ROWS.map(
    ([, { wire, meaning, fallback, unset, schema, request, read }]): ParamRow => ({
      name: wire,
      group: 'sampling',
      description: meaning,
      unset: unset ?? (fallback === undefined ? 'another one each time' : String(fallback)),
      models: 'chat',
      // Requests are reduced as they are read; a model's default is kept unchanged.
      input: paramInput(read === undefined ? { ...schema, ...request } : schema, ''),
    }),
  ),
  ...LOAD_SETTING_ROWS.map(
    ([, { wire, group, description, unset, models, schema, expects, isDocument, names = [] }]): ParamRow => ({
      name: wire,
      group,
      description,
      unset,
      models,
      input: isDocument === true ? { kind: 'document', expects, words: names } : paramInput(schema, expects),
    }),
  ),
];

interface SchemaLike {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly SchemaLike[];
}

function paramInput(schema: SchemaLike, expects: string): ParamInput {
  const words = enumWords(schema);
  if (schema.anyOf === undefined && words.length > 0) return { kind: 'choice', words };
  if (schema.type !== 'number' && schema.type !== 'integer')
    return { kind: 'text', expects, words: [...words, ...(schema.anyOf ?? []).flatMap(enumWords)] };
  const { minimum: least, maximum: most } = schema;
  return {
    kind: 'number',
    isWhole: schema.type === 'integer',
    ...(least === undefined ? {} : { least }),
    ...(most === undefined ? {} : { most }),
  };
}

function enumWords({ enum: words = [] }: SchemaLike): string[] {
  return words.map(String);
}

export function paramText(name: keyof ModelParams, value: unknown): string {
  const [, row] = LOAD_SETTING_ROWS.find(([known]) => known === name) ?? [];
  if (row !== undefined) return row.write(value as never);
  return Array.isArray(value) ? joinLines(value.map(String)) : String(value);
}

/** A line break within a text becomes `\n`, and a backslash `\\`. */
function joinLines(texts: readonly string[]): string {
  return texts.map((text) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')).join('\n');
}

export function splitLines(lines: string): string[] {
  const texts = lines.split('\n').filter((line) => line !== '');
  return texts.map((text) => text.replaceAll(/\\([\\n])/g, (_, mark) => (mark === 'n' ? '\n' : '\\')));
}
