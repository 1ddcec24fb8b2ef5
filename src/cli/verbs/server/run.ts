/** hearth run: one answer, or a conversation when stdin is a terminal and no prompt is given. */
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { Config } from '../../../config/config.ts';
import type { ChatChunk } from '../../../wire/inference/chat.ts';
import { routes } from '../../../wire/routes.ts';
import { streamServer } from '../../api.ts';
import { CliFailure, type CliContext, EXIT_CODES, printableText } from '../../context.ts';

interface RunFlags {
  readonly system?: string;
  readonly maxTokens?: string;
  readonly temperature?: string;
  readonly numCtx?: string;
  readonly keepalive?: string;
  readonly verbose?: boolean;
}

interface Turn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export function registerRun(program: Command, context: CliContext): void {
  program
    .command('run [model] [prompt...]')
    .description('ask a model of the running service; text from stdin precedes the prompt')
    .option('--system <text>', 'a system message')
    .option('--max-tokens <n>', 'most tokens to generate')
    .option('--temperature <t>', 'sampling temperature; 0 is greedy')
    .option('--num-ctx <n>', 'context window in tokens')
    .option('--keepalive <duration>', 'how long the model stays loaded afterwards')
    .option('--verbose', 'print usage to stderr')
    .action(async (model: string | undefined, words: string[], flags: RunFlags) => {
      const chat = new Chat(context, context.config(), model ?? 'default', flags);
      const prompt = [await pipedText(), words.join(' ')].filter((part) => part !== '').join('\n\n');
      if (prompt !== '') await chat.say(prompt);
      else if (process.stdin.isTTY) await converse(chat);
      else throw new CliFailure('nothing to ask: give a prompt, or text on stdin', EXIT_CODES.usage);
    });
}

async function pipedText(): Promise<string> {
  if (process.stdin.isTTY) return '';
  let text = '';
  for await (const part of process.stdin) text += String(part);
  return text.trim();
}

/** Until end of input; prompts go to stderr, because stdout is for answers only. */
async function converse(chat: Chat): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: '> ' });
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== '') await chat.say(line);
    lines.prompt();
  }
}

class Chat {
  readonly #context: CliContext;
  readonly #config: Config;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #verbose: boolean;
  readonly #turns: Turn[];

  constructor(context: CliContext, config: Config, model: string, flags: RunFlags) {
    this.#context = context;
    this.#config = config;
    this.#verbose = flags.verbose === true;
    this.#turns = flags.system === undefined ? [] : [{ role: 'system', content: flags.system }];
    this.#fields = {
      model,
      stream: true,
      stream_options: { include_usage: true },
      keep_alive: flags.keepalive,
      max_tokens: numeric('--max-tokens', flags.maxTokens),
      temperature: numeric('--temperature', flags.temperature),
      num_ctx: numeric('--num-ctx', flags.numCtx),
    };
  }

  async say(content: string): Promise<void> {
    this.#turns.push({ role: 'user', content });
    const body = { ...this.#fields, messages: this.#turns };
    let answer = '';
    for await (const data of streamServer(this.#config, routes.chatCompletions.path, body)) {
      const chunk = data as ChatChunk;
      const text = chunk.choices[0]?.delta.content ?? '';
      answer += text;
      // What a model says is as little trusted as what a stranger types.
      this.#context.write(printableText(text));
      if (chunk.usage && this.#verbose) this.#context.note(`\n${JSON.stringify(chunk.usage)}`);
    }
    this.#context.write('\n');
    this.#turns.push({ role: 'assistant', content: answer });
  }
}

function numeric(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value))
    throw new CliFailure(`${flag} must be a number`, EXIT_CODES.usage);
  return value;
}
