/** Records of models whose user set a template: a replay applies it, or says that it cannot compare. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EvidenceService, statementOf } from '../support/records/evidence-service.ts';

const OWN = '{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}[assistant] ';

let service: EvidenceService;
beforeAll(async () => {
  service = await EvidenceService.create({
    named: { contextLength: 512 },
    own: { contextLength: 512 },
    base: { contextLength: 512, chatTemplate: null },
  });
  await service.start();
});
afterAll(() => service.remove());

interface Verdict {
  readonly code: number | null;
  readonly verdict: string;
  readonly text: string;
}

async function verified(args: readonly string[], how: string): Promise<Verdict> {
  const { code, stdout } = await service.cli([...args, how, '--json']);
  return { code, verdict: (JSON.parse(stdout) as { verdict: string }).verdict, text: stdout };
}

async function recorded(model: string): Promise<{ args: string[]; template: string | null }> {
  const body = { model, messages: [{ role: 'user', content: 'Count on forever.' }], max_tokens: 8 };
  const { reply, args } = await service.saveFrozen(model, body);
  expect(reply.status).toBe(200);
  return { args, template: statementOf(reply).predicate.prompt.template_sha256 };
}

const set = async (id: string, template: string): Promise<void> => {
  expect(await service.cli(['set', id, `template=${template}`])).toMatchObject({ code: 0 });
};

describe('a record of a model with a template of its user', () => {
  it('with a name is verified, while it is set and afterwards', async () => {
    const before = await recorded('named');
    await set('named', 'alpaca');
    const { args, template } = await recorded('named');
    expect(template).not.toBe(before.template);
    expect(await verified(args, '--replay')).toMatchObject({ code: 0, verdict: 'verified' });
    expect(await verified(args, '--cheap')).toMatchObject({ code: 0, verdict: 'verified' });
    await set('named', '');
    expect(await verified(args, '--replay')).toMatchObject({ code: 0, verdict: 'verified' });
  });

  it('as a file is verified while it is set, and not comparable afterwards', async () => {
    const file = path.join(service.folder, await service.save('own.jinja', OWN));
    await set('own', file);
    const { args } = await recorded('own');
    expect(await verified(args, '--replay')).toMatchObject({ code: 0, verdict: 'verified' });
    await set('own', '');
    const gone = await verified(args, '--replay');
    expect(gone).toMatchObject({ code: 2, verdict: 'not comparable' });
    expect(gone.text).toContain('a chat template that is not here');
    const cheap = await verified(args, '--cheap');
    expect([cheap.code, cheap.text]).toEqual([
      2,
      expect.stringContaining('a chat template that is not here'),
    ]);
    // A template is known by its bytes, whichever model it is set for.
    await set('base', file);
    expect(await verified(args, '--replay')).toMatchObject({ code: 0, verdict: 'verified' });
  });

  it('of a base model that was imported with a template is verified', async () => {
    await set('base', 'vicuna');
    const { args } = await recorded('base');
    expect(await verified(args, '--replay')).toMatchObject({ code: 0, verdict: 'verified' });
  });
});
