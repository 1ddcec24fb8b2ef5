/** What the page sets is tried on the model first, as `hearth set` does. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation, type Served } from '../support/process/installation.ts';

let installation: Installation;
let served: Served;
beforeAll(async () => {
  installation = await Installation.make();
  served = await installation.serve({ SVC_API_KEY: 'secret' });
});
afterAll(() => installation.remove());

const key = { authorization: 'Bearer secret' };
const hello = { model: 'hearth-mini', messages: [{ role: 'user', content: 'x' }] };
const setTemplate = async (template: string) =>
  served.client.post('/svc/models/settings', { model: 'hearth-mini', settings: { template } }, key);
const rendered = async () => {
  // A dry run unloads nothing, and new settings need a new load.
  await served.client.chat({ ...hello, max_tokens: 1 }, key);
  const { body } = await served.client.post('/v1/chat/completions?svc_dry_run=1', hello, key);
  return body.rendered_prompt;
};

it('a template that cannot be read is refused, one that says nothing of the user is doubted', async () => {
  const open = await setTemplate('{% for m in messages %}{{ m.content }}');
  expect([open.status, open.body.code]).toEqual([400, 'invalid_request']);
  expect(open.body.error).toMatch(/^template stays as it was: .* it ends inside a block or an expression\.$/);
  const text = '{{ messages[0].role }}';
  const deaf = await setTemplate(text);
  expect(deaf.body).toMatchObject({
    model: 'hearth-mini',
    note: expect.stringMatching(/^The template leaves out what the user says\. /),
  });
  const { body } = await served.client.get('/svc/models', key);
  const mini = body.models.find(({ id }: { id: string }) => id === 'hearth-mini');
  expect([mini.params.template, mini.texts.template]).toEqual([text, text]);
  expect(await rendered()).toBe('user');
});

it('a file is set by the command alone, which copies it', async () => {
  const file = path.join(installation.folder, 'chat.jinja');
  await writeFile(file, '<{{ messages[0].content }}>');
  const before = await rendered();
  const refused = await setTemplate(file);
  expect([refused.status, refused.body.code]).toEqual([400, 'unsupported_value']);
  expect(await rendered()).toBe(before);
  expect((await installation.run(['set', 'hearth-mini', `template=${file}`])).code).toBe(0);
  expect(await rendered()).toBe('<x>');
  // What becomes of the file is nothing to the model.
  await writeFile(file, '{{ messages[0].role }} {{ messages[0].content }}');
  expect(
    (
      await installation.run(['stop', 'hearth-mini'], {
        SVC_API_KEY: 'secret',
        SVC_PORT: String(served.port),
      })
    ).code,
  ).toBe(0);
  expect(await rendered()).toBe('<x>');
});
