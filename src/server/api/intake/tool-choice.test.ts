import { describe, expect, it } from 'vitest';
import type { ToolDefinition } from '../../../contract/job.ts';
import { readToolChoice } from './tool-choice.ts';

const tools: ToolDefinition[] = ['a', 'b', 'c'].map((name) => ({ name, description: '', parameters: {} }));
const fn = (name: string) => ({ type: 'function', function: { name } });

describe('a choice of tools', () => {
  it.each<[unknown, object, string]>([
    [undefined, { mode: 'auto' }, 'abc'],
    [null, { mode: 'auto' }, 'abc'],
    ['auto', { mode: 'auto' }, 'abc'],
    ['none', { mode: 'none' }, 'abc'],
    ['required', { mode: 'required' }, 'abc'],
    [{ type: 'any' }, { mode: 'required' }, 'abc'],
    [{ type: 'none' }, { mode: 'none' }, 'abc'],
    [fn('b'), { mode: 'named', name: 'b' }, 'abc'],
    [{ type: 'function', name: 'b' }, { mode: 'named', name: 'b' }, 'abc'],
    [{ type: 'custom', custom: { name: 'b' } }, { mode: 'named', name: 'b' }, 'abc'],
    [{ type: 'custom', name: 'b' }, { mode: 'named', name: 'b' }, 'abc'],
    [{ type: 'tool', name: 'b' }, { mode: 'named', name: 'b' }, 'abc'],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [fn('c'), fn('a')] } },
      { mode: 'auto' },
      'ac',
    ],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [fn('b')] } },
      { mode: 'required' },
      'b',
    ],
    [
      {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'custom', name: 'c' }, { type: 'web_search' }],
      },
      { mode: 'required' },
      'c',
    ],
  ])('%j', (choice, toolChoice, left) => {
    const chosen = readToolChoice(choice, tools);
    expect(chosen.toolChoice).toEqual(toolChoice);
    expect(chosen.tools.map(({ name }) => name).join('')).toBe(left);
  });

  it.each<[unknown, RegExp]>([
    ['always', /^tool_choice must be "none"/],
    [{ type: 'function' }, /^tool_choice must be/],
    [fn('x'), /^tool_choice\.function\.name names "x", which is not among the tools/],
    [{ type: 'custom', custom: { name: 'x' } }, /^tool_choice\.custom\.name names "x"/],
    [{ type: 'tool', name: 'x' }, /^tool_choice\.name names "x"/],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [fn('x')] } },
      /^tool_choice\.allowed_tools\.tools names none of the tools/,
    ],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'always', tools: [fn('a')] } },
      /^tool_choice\.allowed_tools\.mode must be/,
    ],
    [{ type: 'allowed_tools', mode: 'auto' }, /^tool_choice\.tools must be a list/],
  ])('%j is refused', (choice, reason) => {
    expect(() => readToolChoice(choice, tools)).toThrow(reason);
  });
});
