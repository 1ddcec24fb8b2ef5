import { describe, expect, it } from 'vitest';
import { parseReference } from '../reference.ts';
import { knownName } from './known-names.ts';

describe('a name of another library', () => {
  it.each([
    ['llama3.2', 'bartowski/Llama-3.2-3B-Instruct-GGUF'],
    ['llama3.2:latest', 'bartowski/Llama-3.2-3B-Instruct-GGUF'],
    ['llama3.2:1b', 'bartowski/Llama-3.2-1B-Instruct-GGUF'],
    ['Qwen3:8b', 'Qwen/Qwen3-8B-GGUF'],
    ['qwen3:0.6b', 'Qwen/Qwen3-0.6B-GGUF'],
    ['qwen3:30b-a3b', 'Qwen/Qwen3-30B-A3B-GGUF'],
    ['gemma3:270m', 'ggml-org/gemma-3-270m-it-GGUF'],
    ['gemma3:4b-it-q4_K_M', 'ggml-org/gemma-3-4b-it-GGUF:Q4_K_M'],
    ['nomic-embed-text:v1.5', 'nomic-ai/nomic-embed-text-v1.5-GGUF'],
  ])('%s → %s', (name, reference) => {
    expect(knownName(name)?.reference).toBe(reference);
  });

  it('in a size that nobody knows stands for no other size', () => {
    expect(knownName('llama3.2:90b')).toEqual({ reference: null, tags: ['3b', '1b'] });
    expect(knownName('gemma3:constructor')?.reference).toBeNull();
  });

  it.each(['constructor', 'nobody-knows', 'nobody:8b', ''])('%j is none', (name) => {
    expect(knownName(name)).toBeNull();
  });

  it('has for each of its tags a repository of that size', () => {
    const names = ['deepseek-r1', 'gemma3', 'gpt-oss', 'llama3', 'llama3.1', 'llama3.2', 'qwen2.5', 'qwen3'];
    const found = names.flatMap((name) =>
      (knownName(name)?.tags ?? []).map((tag) => ({
        tag,
        reference: knownName(`${name}:${tag}`)?.reference,
      })),
    );
    expect(found.length).toBeGreaterThan(30);
    for (const { tag, reference } of found) {
      expect(reference?.toLowerCase()).toContain(`-${tag}-`);
      expect(parseReference(reference ?? '', 'https://huggingface.co').repo).toBe(reference);
    }
  });
});
