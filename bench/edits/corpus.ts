/**
 * Edits of code as prompts: an instruction, a short program, and the program after the edit. Each stands in a file of
 * corpus/, written for this benchmark. The prompt is plain text that a base model can continue as well.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Edit {
  readonly name: string;
  readonly instruction: string;
  /** As a fence names it: ts, py or go. */
  readonly language: string;
  readonly before: string;
  readonly after: string;
}

const FENCE = '```';
/** Where the changed program ends; a stop sequence. */
export const END_OF_CODE = `\n${FENCE}`;
const CORPUS = path.resolve('bench', 'edits', 'corpus');

/** All of them, by name; read from the working directory, which is the repository. */
export function edits(): Edit[] {
  const files = readdirSync(CORPUS).filter((name) => name.endsWith('.txt'));
  return files.sort().map((file) => parseEdit(file, readFileSync(path.join(CORPUS, file), 'utf8')));
}

export function parseEdit(file: string, text: string): Edit {
  const parts = /^(.+)\n=== before\.(\w+)\n([\s\S]+\n)=== after\.\2\n([\s\S]+\n)$/.exec(text);
  const [, instruction, language, before, after] = parts ?? [];
  if (instruction === undefined || language === undefined || before === undefined || after === undefined)
    throw new Error(`${file} is no edit: an instruction, "=== before.ts", code, "=== after.ts", code`);
  return { name: path.basename(file, '.txt'), instruction, language, before, after };
}

/** With another edit as an example, so that the form of the answer is clear. */
export function promptFor(edit: Edit, example: Edit): string {
  const shown = example.name === edit.name ? '' : `${question(example)}${example.after}${FENCE}\n\n`;
  return `${shown}${question(edit)}`;
}

const question = ({ instruction, language, before }: Edit): string =>
  `Instruction: ${instruction}\n\nBefore:\n${FENCE}${language}\n${before}${FENCE}\n\nAfter:\n${FENCE}${language}\n`;

export const isExpected = ({ after }: Edit, answer: string): boolean => answer.trim() === after.trim();
