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
const setTemplate = async (template: string) =>
  served.client.post('/svc/models/settings', { model: 'hearth-mini', settings: { template } }, key);

it('a template that cannot be read is refused, one that says nothing of the user is doubted', async () => {
  const file = path.join(installation.folder, 'chat.jinja');
  await writeFile(file, '{% for m in messages %}{{ m.content }}');
  const open = await setTemplate(file);
  expect([open.status, open.body.code]).toEqual([400, 'invalid_request']);
  expect(open.body.error).toMatch(/^template stays as it was: .* it ends inside a block or an expression\.$/);
  await writeFile(file, '{{ messages[0].role }}');
  const deaf = await setTemplate(file);
  expect(deaf.body).toMatchObject({
    model: 'hearth-mini',
    note: expect.stringMatching(/^The template leaves out what the user says\. /),
  });
  const { body } = await served.client.get('/svc/models', key);
  const mini = body.models.find(({ id }: { id: string }) => id === 'hearth-mini');
  expect(mini.params.template).toBe(file);
});
