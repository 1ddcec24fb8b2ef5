/** Figures and names on which several rooms must agree stand in one file. */
import { describe, expect, it } from 'vitest';
import { EMBEDDING_WIDTH } from '../../src/contract/limits.ts';
import { TEMPLATE_LIMITS } from '../../packages/chat-templates/src/form/limits.ts';
import { FOREIGN_STORES } from '../../src/store/files/manifest.ts';
import { files, textOf } from './sources.ts';

const code = (file: string): string => textOf(file).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
const filesWith = (pattern: RegExp): string[] => files.filter((file) => pattern.test(code(file)));
const number = (value: number): RegExp =>
  new RegExp(`(?<![\\d_.])(?:${value}|${value.toLocaleString('en').replaceAll(',', '_')})(?![\\d_]|\\.\\d)`);

describe('single facts', () => {
  it('the embedding width', () => {
    expect(filesWith(number(EMBEDDING_WIDTH))).toEqual(['contract/limits.ts']);
  });

  it('the bounds of chat templates', () => {
    const bounds = /TEMPLATE_LIMITS\b.*= \{|\brange: \d|\bnesting: \d|templateBytes/;
    expect(filesWith(bounds)).toEqual(['packages/chat-templates/src/form/limits.ts']);
    expect(filesWith(number(TEMPLATE_LIMITS.steps))).toEqual(['packages/chat-templates/src/form/limits.ts']);
  });

  it('the implementations of submit: the stages, and the scheduler', () => {
    expect(filesWith(/^ +submit(?:: )?\(submission(?:: Submission)?, signal/m)).toEqual([
      'server/engine/ports.ts',
      'server/engine/scheduler/loop.ts',
      'server/engine/stages.ts',
    ]);
  });

  it('the renaming of files, which Windows refuses at times', () => {
    expect(filesWith(/import \{[^}]*\brename\b[^}]*\} from 'node:fs\/promises'/)).toEqual([
      'lib/files/busy.ts',
    ]);
  });

  it('the list of foreign stores: no other file names two of them', () => {
    const named = (file: string): number =>
      FOREIGN_STORES.filter((name) => code(file).includes(`'${name}'`)).length;
    expect(files.filter((file) => named(file) > 1)).toEqual(['store/files/manifest.ts']);
  });
});
