import { describe, expect, it } from 'vitest';
import { generateJob } from '../../../../../test/support/engine/jobs.ts';
import type { GenerateJob } from '../../../../contract/job.ts';
import type { Dialect } from '../ports.ts';
import { writeRequest } from './request.ts';

const write = (dialect: Dialect, fields: Partial<GenerateJob>) =>
  writeRequest(generateJob(fields), { dialect, model: 'theirs', id: 'ours' });
const begun: Partial<GenerateJob> = {
  prompt: {
    kind: 'chat',
    turns: [
      { role: 'user', content: 'How much?' },
      { role: 'assistant', content: 'It is' },
    ],
    continues: true,
  },
};

describe('what is asked of an upstream', () => {
  it('may be the continuation of tokens, or the gap before a suffix', () => {
    const tokens = write('openai', { prompt: { kind: 'tokens', tokens: [1, 2] } });
    expect(tokens).toMatchObject({ path: '/completions', body: { prompt: [1, 2] } });
    const gap = write('openai', { prompt: { kind: 'text', text: 'a', suffix: 'b' } });
    expect(gap.body).toMatchObject({ prompt: 'a', suffix: 'b' });
    const mixed: Partial<GenerateJob> = { prompt: { kind: 'mixed', parts: ['a', [1, 2]], readsMarks: true } };
    expect(write('hearth', mixed).body).toMatchObject({ prompt: ['a', 1, 2], parse_special: true });
    expect(write('llama-server', mixed).body).toMatchObject({ prompt: ['a', 1, 2] });
    expect(() => write('vllm', mixed)).toThrow('texts and tokens in turn');
    const files = { kind: 'text' as const, text: 'a', suffix: 'b', files: [{ name: 'c', text: 'C' }] };
    expect(() => write('hearth', { prompt: files })).toThrow('further files');
  });

  it('may be to go on with an answer, where it can', () => {
    expect(write('hearth', begun).body).toMatchObject({ continue_final_message: true });
    expect(write('llama-server', begun).body).not.toHaveProperty('continue_final_message');
    expect(() => write('ollama', begun)).toThrow('continue an answer that is begun');
    const unopened: Partial<GenerateJob> = { prompt: { kind: 'chat', turns: [], opens: false } };
    expect(write('llama-server', unopened).body).toMatchObject({ add_generation_prompt: false });
    expect(() => write('ollama', unopened)).toThrow('leave out how an answer is opened');
  });

  it('tells whether to call a tool, or leaves the tools out where it could not be told', () => {
    const tools: Partial<GenerateJob> = {
      tools: [{ name: 'look', description: '', parameters: {} }],
      toolChoice: { mode: 'none' },
    };
    expect(write('vllm', tools).body).toMatchObject({ tools: [{}], tool_choice: 'none' });
    expect(write('ollama', tools).body).not.toHaveProperty('tools');
    const forced = write('ollama', { ...tools, toolChoice: { mode: 'required' } }).body;
    expect(forced).toMatchObject({ tools: [{ function: { name: 'look' } }] });
    expect(forced).not.toHaveProperty('tool_choice');
  });

  it('may name tokens by their text and forbid the end, where it can', () => {
    const rules: Partial<GenerateJob> = {
      biasedTexts: [['river', -5]],
      ignoresEnd: true,
      sampling: { logitBias: [[7, 1]] },
    };
    expect(write('hearth', rules).body).toMatchObject({
      logit_bias: { 7: 1, river: -5 },
      ignore_eos: true,
    });
    expect(() => write('openai', { ignoresEnd: true })).toThrow('ignore the end');
    expect(() => write('vllm', rules)).toThrow('biases of texts');
  });
});
