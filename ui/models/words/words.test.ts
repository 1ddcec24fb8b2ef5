import { describe, expect, it } from 'vitest';
import { installedWords, isBaseModel } from './base-model.ts';
import type { LibraryModel } from './base-model.ts';
import { removalQuestion } from './removal.ts';

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
