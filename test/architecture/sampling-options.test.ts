/** A sampling option is named in two product files: the table, and the mapping to the native library or what stands for it. */
import { describe, expect, it } from 'vitest';
import { SAMPLING } from '../../src/contract/sampling.ts';
import { files, textOf } from './sources.ts';

const TABLE = 'contract/sampling.ts';
const MAPPING = 'worker/addon/sampling/chain.ts';
/** No samplers: llama.cpp has none for these. The last tells a reader how to turn one off. */
const GUARDS = [
  'lib/base/repetition-guard.ts',
  'server/api/chat/call-guard.ts',
  'cli/conversation/answer.ts',
];
/** The mode frozen-v1 decides these two, and as words they mean other things as well. */
const DECIDED: readonly string[] = ['temperature', 'seed'];

const code = (file: string): string => textOf(file).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
const names = Object.entries(SAMPLING)
  .filter(([option]) => !DECIDED.includes(option))
  .flatMap(([option, { wire }]) => [...new Set([option, wire])]);

function filesNaming(name: string): string[] {
  const word = new RegExp(`\\b${name}\\b`);
  return files.filter((file) => word.test(code(file)));
}

describe('the names of sampling options', () => {
  it('are found where they belong', () => {
    expect(names).toEqual(expect.arrayContaining(['presencePenalty', 'presence_penalty', 'repeat_last_n']));
    expect(filesNaming('presencePenalty')).toEqual([TABLE, MAPPING]);
    expect(filesNaming('presence_penalty')).toEqual([TABLE]);
  });

  it.each(names)('%s stands in no second list', (name) => {
    expect(filesNaming(name).filter((file) => ![TABLE, MAPPING, ...GUARDS].includes(file))).toEqual([]);
  });
});
