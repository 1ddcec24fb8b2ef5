import { describe, expect, it } from 'vitest';
import { installed, scriptedService, startScripted } from '../support/http/scripted-service.ts';
import { verifies } from './requirements.ts';

const service = scriptedService();

describe('GET /v1/models', () => {
  it('lists what is installed, with id, kind and owner', async () => {
    const { status, body } = await service.client.get('/v1/models');
    const each = (member: string) => body.data.map((entry: Record<string, unknown>) => entry[member]);
    verifies(['get-models.request', 'get-models.response'], () => expect(status).toBe(200));
    verifies('models.object', () => expect(body.object).toBe('list'));
    verifies(['models.data', 'model.id'], () =>
      expect(each('id')).toEqual(['acme/tiny-chat:q4', 'tiny-chat', 'tiny-embed']),
    );
    verifies('model.object', () => expect(each('object')).toEqual(['model', 'model', 'model']));
    verifies('model.owned-by', () => expect(each('owned_by')).toEqual(['local', 'hearth', 'hearth']));
    expect(each('kind')).toEqual(['chat', 'chat', 'embedding']);
  });

  it('tells the context that a model was trained for, and what it can do', async () => {
    const { data } = (await service.client.get('/v1/models')).body;
    const entry = data.find((model: { id: string }) => model.id === installed.chat);
    expect(entry).toMatchObject({ context_length: 2048, max_model_len: 2048, architecture: 'llama' });
    expect(entry.created).toBeGreaterThan(1_700_000_000);
    expect(entry.capabilities).toContain('chat');
  });

  it('is an empty list, not an error, when nothing is installed', async () => {
    const bare = await startScripted({ models: false });
    const { status, body } = await bare.client.get('/v1/models');
    await bare.close();
    verifies('models.data', () => expect([status, body]).toEqual([200, { object: 'list', data: [] }]));
  });

  it('loads nothing', async () => {
    await service.client.get('/v1/models');
    expect(service.engine.played).toEqual([]);
  });
});

describe('GET /v1/models/{id}', () => {
  it.each([
    ['an id', 'tiny-chat', 'tiny-chat'],
    ['an id with slash and tag', 'acme/tiny-chat:q4', 'acme/tiny-chat:q4'],
    ['an encoded slash', 'acme%2Ftiny-chat%3Aq4', 'acme/tiny-chat:q4'],
    ['other letter case', 'Tiny-Chat', 'tiny-chat'],
    ['the alias default', 'default', 'tiny-chat'],
    ['the alias default-embedding', 'default-embedding', 'tiny-embed'],
  ])('shows a model by %s', async (_, name, id) => {
    const { status, body } = await service.client.get(`/v1/models/${name}`);
    expect([status, body.id, body.object]).toEqual([200, id, 'model']);
  });

  it.each([
    ['an unknown id', 'nobody'],
    ['an unknown id with slashes', 'a/b/c/d'],
    ['a path out of the store', '../../../etc/passwd'],
    ['an encoded path out of the store', '..%2f..%2fetc%2fpasswd'],
    ['a NUL byte', 'a%00b'],
    ['a very long id', 'm'.repeat(400)],
    ['nothing', ''],
  ])('is a 404 that says how to go on for %s', async (_, name) => {
    const { status, body } = await service.client.get(`/v1/models/${name}`);
    expect([status, body.type]).toEqual([404, 'invalid_request_error']);
  });

  it('suggests names like it that the key may use, and an alias for a name of a hosted service', async () => {
    const near = installed.chat.slice(0, -1);
    const sentence = async (name: string) => (await service.client.get(`/v1/models/${name}`)).body.error;
    expect(await sentence(near)).toContain(`did you mean ${installed.chat}`);
    expect(await sentence('gpt-4o')).toContain(
      'hearth alias gpt-4o MODEL, or answer all such names: SVC_UNKNOWN_MODEL_IS_DEFAULT=1.',
    );
    expect(await sentence('text-embedding-3-small')).toMatch(/hearth alias text-embedding-3-small MODEL\.$/);
  });

  it('says how to install a model that is not there', async () => {
    const { body } = await service.client.get('/v1/models/nobody');
    expect(body).toMatchObject({ code: 'model_not_found', param: 'model' });
    expect(body.error).toBe(
      'Model "nobody" is not installed; choose one from GET /v1/models, or install one with: hearth pull owner/name.',
    );
  });
});

describe('for a client of Anthropic', () => {
  const headers = { 'anthropic-version': '2023-06-01' };

  it("the list has the members of Anthropic's beside those of the interface", async () => {
    const { body } = await service.client.ask({ path: '/v1/models', headers });
    verifies(['models.object', 'model.object'], () => {
      expect(body).toMatchObject({ object: 'list', has_more: false });
      expect([body.first_id, body.last_id]).toEqual(['acme/tiny-chat:q4', 'tiny-embed']);
      expect(body.data[1]).toMatchObject({ object: 'model', owned_by: 'hearth', ...info });
    });
  });

  it('so does one model', async () => {
    const { body } = await service.client.ask({ path: '/v1/models/default', headers });
    expect(body).toMatchObject(info);
    const plain = (await service.client.get('/v1/models/default')).body;
    expect(Object.keys(plain)).not.toContain('display_name');
  });

  const info = {
    type: 'model',
    id: 'tiny-chat',
    display_name: 'tiny-chat',
    created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
    capabilities: null,
    max_input_tokens: 2048,
    max_tokens: 2048,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
  };
});
