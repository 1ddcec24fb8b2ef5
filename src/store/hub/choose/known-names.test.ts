import { expect, it } from 'vitest';
import { parseReference } from '../reference.ts';
import { repositoryFor } from './known-names.ts';

it.each([
  ['llama3.2', 'bartowski/Llama-3.2-3B-Instruct-GGUF'],
  ['Qwen3:8b', 'Qwen/Qwen3-8B-GGUF'],
  ['constructor', null],
  ['nobody-knows', null],
])('%s → %s', (name, repo) => {
  expect(repositoryFor(name)).toBe(repo);
  if (repo !== null) expect(parseReference(repo, 'https://huggingface.co').repo).toBe(repo);
});
