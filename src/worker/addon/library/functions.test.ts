/** The tables of foreign functions against the code that calls them, and the layouts against a library that differs. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GGML, GGML_BASE, LLAMA } from '../../../../packages/llama-api/src/functions.ts';
import { checkLayouts, CONTEXT_DEFAULTS, type Defaults, MODEL_DEFAULTS } from './layout-check.ts';

const addon = path.join(import.meta.dirname, '..');
const callers = readdirSync(addon, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/functions(?:\.test)?\.ts$/.test(name))
  .map((name) => readFileSync(path.join(addon, name), 'utf8'))
  .join('\n');

describe('the foreign functions', () => {
  it.each(Object.keys({ ...LLAMA, ...GGML, ...GGML_BASE }))('%s is called', (name) => {
    expect(callers).toMatch(new RegExp(`\\b${name}\\b`));
  });
});

function library(changes: { version?: string; model?: object; context?: object } = {}): Defaults {
  return {
    llama_version: () => changes.version ?? '0.5.0',
    llama_model_default_params: () => ({ ...MODEL_DEFAULTS, ...changes.model }),
    llama_context_default_params: () => ({ ...CONTEXT_DEFAULTS, ...changes.context }),
  } as unknown as Defaults;
}

const REMEDY = 'install Hearth again';

describe('the check at boot', () => {
  it('accepts the release that the layouts are of', () => {
    expect(() => checkLayouts(library(), REMEDY)).not.toThrow();
  });

  it.each([
    [
      { version: '0.6.1' },
      /is llama\.cpp 0\.6\.1, and Hearth was written for v0\.5\.0; install Hearth again$/,
    ],
    [{ model: { n_gpu_layers: 0 } }, /llama_model_params\.n_gpu_layers reads 0 instead of -1; install/],
    [
      { context: { kv_unified: true } },
      /llama_context_params\.kv_unified reads true instead of false; install/,
    ],
  ])('names the first difference in one sentence: %j', (changes, sentence) => {
    expect(() => checkLayouts(library(changes), REMEDY)).toThrow(sentence);
  });
});
