import type { Command } from 'commander';
import type { EmbeddingResponse } from '../../../wire/inference/embeddings.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer, expectOk } from '../../api.ts';
import { CliFailure, type CliContext, EXIT_CODES } from '../../context.ts';

interface EmbedFlags {
  readonly model: string;
  readonly dimensions?: string;
  readonly truncate?: boolean;
}

/** Texts per request, so that a long list is answered while it is read. */
const AT_ONCE = 256;

export function registerEmbed(program: Command, context: CliContext): void {
  program
    .command('embed [text...]')
    .description('print the vector of each text, or of each line of stdin, as a JSON array per line')
    .option('--model <id>', 'the embedding model', 'default-embedding')
    .option('--dimensions <n>', 'how many numbers a vector has')
    .option('--truncate', 'cut texts that are too long')
    .action(async (given: string[], flags: EmbedFlags) => {
      const texts = given.length > 0 ? given : await pipedLines();
      if (texts.length === 0)
        throw new CliFailure('nothing to embed: give texts, or one text per line on stdin', EXIT_CODES.usage);
      const options = {
        model: flags.model,
        ...(flags.dimensions === undefined ? {} : { dimensions: wholeNumber(flags.dimensions) }),
        ...(flags.truncate === true ? { truncate: true } : {}),
      };
      for (let at = 0; at < texts.length; at += AT_ONCE) {
        const body = { ...options, input: texts.slice(at, at + AT_ONCE) };
        const response = await callServer(context.config(), 'POST', routes.embeddings.path, body);
        for (const { embedding } of (expectOk(response) as EmbeddingResponse).data)
          context.print(JSON.stringify(embedding));
      }
    });
}

async function pipedLines(): Promise<string[]> {
  if (process.stdin.isTTY) return [];
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) text += String(part);
  return text.split(/\r?\n/).filter((line) => line !== '');
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new CliFailure('--dimensions must be a whole number', EXIT_CODES.usage);
}
