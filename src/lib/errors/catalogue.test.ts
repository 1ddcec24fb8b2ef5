import { describe, expect, it } from 'vitest';
import { fail } from './svc-error.ts';

describe('the remedy for a model that is not installed', () => {
  it.each(['user/repo', 'user/repo:Q4_K_M', 'mine/tiny:q4'])(
    'is to pull %s, which a hub may have',
    (model) => {
      expect(fail('model_not_found', { model }).message).toContain(`run: hearth pull ${model},`);
    },
  );

  it.each(['my-model', 'nobody', '', 'a/b/c', 'https://h.example/x'])('is not to pull %j', (model) => {
    const { message } = fail('model_not_found', { model });
    expect(message).toContain('choose one from GET /v1/models, or install one with: hearth pull owner/name.');
  });

  it.each(['hearth-embed', 'Hearth-Mini', 'hearth-mini:latest'])(
    'is to restore %s, which ships, and nothing else',
    (model) => {
      const { message } = fail('model_not_found', { model });
      expect(message).toMatch(/run: hearth restore hearth-(embed|mini)\.$/);
      expect(message).not.toMatch(/pull|GET/);
    },
  );

  it('is the alias that would serve, where there is one', () => {
    const { message } = fail('model_not_found', { model: 'nobody', instead: 'default-embedding' });
    expect(message).toContain('use "default-embedding", choose one from GET /v1/models, or install one');
  });

  it('is a setting for the feature-hash fallback', () => {
    const { message } = fail('model_not_found', { model: 'feature-hash-768' });
    expect(message).toContain('set SVC_ALLOW_HASH_EMBEDDINGS=1 and restart hearth serve.');
  });
});

describe('the remedy for a prompt that does not fit', () => {
  const remedy = (detail: { promptTokens: number; maxCtx?: number; model?: string; isAsked?: boolean }) =>
    fail('context_length_exceeded', { numCtx: 512, ...detail }).message;

  it('is a larger window where the model can have one', () => {
    const model = 'm:q4';
    expect(remedy({ promptTokens: 600 })).toContain('Shorten the prompt, or send a larger num_ctx.');
    expect(remedy({ promptTokens: 600, model })).toContain('or run: hearth set m:q4 num_ctx=1024.');
    expect(remedy({ promptTokens: 2040, maxCtx: 8192, model })).toContain('num_ctx=4096.');
    expect(remedy({ promptTokens: 2040, maxCtx: 3000, model })).toContain('num_ctx=3000.');
  });

  it('is not a setting of the model where the request set the window', () => {
    const message = remedy({ promptTokens: 600, maxCtx: 8192, model: 'm', isAsked: true });
    expect(message).toContain('Shorten the prompt, or send num_ctx=1024, or none.');
    expect(message).not.toContain('hearth set');
  });

  it.each([600, 512])(
    'is only a shorter prompt where the largest window is 512 and it has %d',
    (promptTokens) => {
      const message = remedy({ promptTokens, maxCtx: 512 });
      expect(message).toContain('Shorten the prompt; the model takes at most 512.');
      expect(message).not.toContain('raise');
    },
  );
});

describe('a sentence about something unusable', () => {
  const model = 'm';
  const reason = 'the cause';
  const path = '/x';
  it.each([
    [fail('invalid_json', { reason }), /the cause; check that it is/],
    [fail('template_failed', { reason }), /the cause; check their roles and order, or choose/],
    [
      fail('template_failed', { reason, tools: true }),
      /the cause; make the types of their .*simpler, or choose/,
    ],
    [fail('load_failed', { model, reason }), /the cause; check that its file .*hearth verify.*, or use/],
    [fail('gguf_invalid', { path, reason }), /the cause; fetch it again, or use another file/],
    [fail('file_unusable', { path, reason }), /the cause; give the path of a plain GGUF file/],
    [
      fail('setting_file_unusable', { path, as: 'a chat template', reason }),
      /the cause; correct the file, or/,
    ],
  ])('names its cause and a remedy: %s', ({ message }, wanted) => {
    expect(message).toMatch(wanted);
  });
});
