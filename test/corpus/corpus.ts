/** The templates and conversations of the corpus, and what the reference makes of them. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSpelled } from '../../src/lib/json/parse-spelled.ts';
import { spelled } from '../../src/lib/json/spelled-numbers.ts';
import { OwnWords } from '../../packages/chat-templates/src/jinja/values/convert.ts';
import { surroundings } from '../../packages/chat-templates/test/surroundings.ts';

export interface Conversation {
  readonly name: string;
  readonly kind: string;
  readonly messages: readonly { readonly role: string; readonly reasoning_content?: string }[];
  readonly tools: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
}

interface Conversations {
  readonly tools: Readonly<Record<string, readonly unknown[]>>;
  readonly conversations: readonly Conversation[];
}

/** llama.cpp's folder of models; null: only what is committed here is tested. */
export const CORPUS_FOLDER = process.env['HEARTH_CORPUS'] ?? null;

const committed = fileURLToPath(new URL('./templates', import.meta.url));
const folder = CORPUS_FOLDER === null ? committed : path.join(CORPUS_FOLDER, 'templates');

// Numbers as they are spelled, which a model is to read.
const { tools, conversations } = spelled(
  parseSpelled(readFileSync(new URL('conversations.json', import.meta.url), 'utf8')),
) as Conversations;

export { conversations };

export const templates: readonly { readonly name: string; readonly source: string }[] = readdirSync(folder)
  .filter((file) => file.endsWith('.jinja'))
  .sort()
  .map((file) => ({
    name: path.basename(file, '.jinja'),
    source: readFileSync(path.join(folder, file), 'utf8'),
  }));

export function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as Content;
}

/** Everything that a template is rendered with, as transformers passes it. */
export function variablesOf({ messages, tools: offered, variables }: Conversation): Record<string, unknown> {
  return {
    messages: messages.map((message) => ({
      ...(message.reasoning_content === undefined ? {} : { thinking: message.reasoning_content }),
      ...message,
      role: new OwnWords(message.role),
    })),
    tools: offered === null ? null : (tools[offered] ?? null),
    ...surroundings,
    ...variables,
  };
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
