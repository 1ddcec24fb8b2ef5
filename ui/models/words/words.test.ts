import { describe, expect, it } from 'vitest';
import { PARAM_ROWS } from '../../../src/store/registry/param-rows.ts';
import { installedWords, isBaseModel } from './base-model.ts';
import type { LibraryModel } from './base-model.ts';
import { planFit, quantFit } from './fit.ts';
import { removalQuestion } from './removal.ts';
import { hasSettingWords, settingWords } from './settings.ts';

const model = (id: string, more: Partial<LibraryModel> = {}): LibraryModel => ({
  id,
  object: 'model',
  owned_by: 'local',
  kind: 'chat',
  chat_template: true,
  size_bytes: 2_000_000_000,
  created: 1,
  params: {},
  frees_bytes: 2_000_000_000,
  texts: {},
  ...more,
});

describe('the question before a removal', () => {
  const pulled = model('pulled', { owned_by: 'hf:acme', created: 9 });
  const mini = model('mini', { owned_by: 'hearth', created: 50 });

  it('says what becomes of the file', () => {
    const ask = (each: LibraryModel) => removalQuestion(each, [pulled, mini], undefined);
    expect(ask(pulled)).toBe('This deletes 2.0 GB from the disk. Remove it?');
    expect(ask(model('local', { frees_bytes: 0 }))).toBe('Its file is not deleted. Remove it?');
    expect(ask(mini)).toMatch(/brings it back/);
  });

  it('names the default that follows, as the service says', () => {
    expect(removalQuestion(pulled, [pulled, mini], 'mini')).toContain('mini becomes the default.');
    // Where the operator has named the default, nothing takes its place.
    expect(removalQuestion(pulled, [pulled, mini], null)).toContain('No model becomes the default.');
    expect(removalQuestion(pulled, [pulled], null)).toMatch(/^This is the only chat model\. This deletes/);
    expect(removalQuestion(pulled, [pulled, mini], undefined)).not.toContain('default');
  });
});

describe('a base model', () => {
  const base = model('base', { chat_template: false });

  it('is one that neither its file nor its user gave a template', () => {
    expect(isBaseModel(base)).toBe(true);
    expect(isBaseModel({ ...base, texts: { template: 'chatml' } })).toBe(false);
    expect([model('chat'), model('e', { kind: 'embedding' })].map(isBaseModel)).toEqual([false, false]);
  });

  it('is told once it is installed, with why it is not the default', () => {
    expect(installedWords(base, 'mini')).toMatch(/no chat template.*did not become the default.*mini/);
    expect(installedWords(base, 'base')).not.toContain('did not become');
    expect(installedWords(model('chat'), 'mini')).toBeNull();
  });
});

describe('the words of settings', () => {
  it('are there for every setting that a model has, and for no other', () => {
    expect(PARAM_ROWS.map(({ name }) => name).filter((name) => !hasSettingWords(name))).toEqual([]);
    expect(new Set(PARAM_ROWS.map(({ name }) => settingWords(name))).size).toBe(PARAM_ROWS.length);
  });
});

describe('whether a model fits', () => {
  const plan = { model: 'm', loaded: false, slots: 2, num_ctx: 8192, memory: { CPU: 2.1e9 }, evicts: [] };

  it('is told with what is free and the window', () => {
    expect(planFit(plan, { CPU: 9.6e9 })).toEqual({
      isGood: true,
      words: 'fits: 2.1 of 9.6 GB at 8,192 tokens',
    });
    expect(planFit({ ...plan, evicts: ['old'] }, {}).words).toBe(
      'fits once old is unloaded: 2.1 GB at 8,192 tokens',
    );
    expect(planFit({ ...plan, memory: { CPU: 4e8, Vulkan0: 2e9 } }, { CPU: 9e9, Vulkan0: 8e9 }).words).toBe(
      'fits: 400 MB of 9.0 GB, 2.0 of 8.0 GB on Vulkan0 at 8,192 tokens',
    );
    const quant = { label: 'Q4_K_M', size_bytes: 2e9, least_bytes: 2.1e9, usual_bytes: 2.6e9 };
    expect(quantFit({ ...quant, fits: true }, 9.6e9).words).toBe('fits: about 2.6 of 9.6 GB at 8,192 tokens');
    expect(quantFit({ ...quant, fits: false }, 1e9).isGood).toBe(false);
  });
});
