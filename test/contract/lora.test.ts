/** LoRA adapters in requests: those of the model by name, as the request or else the model says. */
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../src/contract/job.ts';
import { setParams } from '../../src/store/install/changes.ts';
import { importFile } from '../../src/store/install/import.ts';
import { writeTinyLora } from '../../tools/models/tiny-lora.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const model = installed.slashed;

beforeAll(async () => {
  const { registry } = service;
  for (const [seed, name] of ['style', 'tone', 'loose'].entries()) {
    const file = path.join(path.dirname(registry.store.paths.root), `${name}.gguf`);
    await writeTinyLora(file, { seed });
    await importFile(registry, file, {});
  }
  const lora = [
    { name: 'style', scale: 0.5 },
    { name: 'tone', scale: 0 },
  ];
  await setParams(registry, model, { lora });
});

async function adaptersOf(fields: object): Promise<GenerateJob['adapters']> {
  const { status } = await service.client.chat({ model, ...fields });
  expect(status).toBe(200);
  return (service.engine.lastJob.submission.job as GenerateJob).adapters;
}

const refusalOf = async (fields: object) => {
  const { status, body } = await service.client.chat({ model, ...fields });
  return [status, body.message, body.param];
};

describe('lora in a request', () => {
  it('is as the model is set while the request is silent', async () => {
    const asSet = [{ name: 'style', scale: 0.5 }];
    expect(await adaptersOf({})).toEqual(asSet);
    expect(await adaptersOf({ lora: null })).toEqual(asSet);
    expect(await adaptersOf({ model: installed.chat })).toEqual([]);
  });

  it('replaces what the model is set to, in its order, and 0 is off', async () => {
    expect(await adaptersOf({ lora: [] })).toEqual([]);
    expect(await adaptersOf({ lora: [{ name: 'tone' }] })).toEqual([{ name: 'tone', scale: 1 }]);
    expect(
      await adaptersOf({
        lora: [
          { name: 'Tone', scale: -2 },
          { name: 'style', scale: null },
        ],
      }),
    ).toEqual([
      { name: 'style', scale: 1 },
      { name: 'tone', scale: -2 },
    ]);
    expect(await adaptersOf({ lora: [{ name: 'style', scale: 0 }] })).toEqual([]);
  });

  it('is refused for what is not attached to the model, with what is', async () => {
    expect(await refusalOf({ lora: [{ name: 'loose' }] })).toEqual([
      400,
      `Model "${model}" has no adapter "loose"; it has style, tone.`,
      'lora',
    ]);
    expect(await refusalOf({ model: installed.chat, lora: [{ name: 'style' }] })).toEqual([
      400,
      `Model "${installed.chat}" has no adapter "style"; attach one with: hearth set ${installed.chat} lora=NAME.`,
      'lora',
    ]);
    expect((await refusalOf({ lora: [{ name: 'style' }, { name: 'STYLE' }] }))[1]).toBe(
      'lora names style twice; name each adapter once.',
    );
  });

  it.each([[[{ id: 0, scale: 1 }]], [[{ name: 'style', scale: 101 }]], ['style'], [[{ name: '' }]]])(
    '%j is refused by its form',
    async (lora) => {
      expect((await refusalOf({ lora }))[0]).toBe(400);
    },
  );

  it('works in text completion', async () => {
    await service.client.post('/v1/completions', { model, prompt: 'x', lora: [{ name: 'tone' }] });
    expect((service.engine.lastJob.submission.job as GenerateJob).adapters).toEqual([
      { name: 'tone', scale: 1 },
    ]);
  });
});

describe('an adapter', () => {
  it('is not listed as a model, nor answers as one', async () => {
    const { data } = (await service.client.get('/v1/models')).body;
    expect(data.map(({ id }: { id: string }) => id)).toEqual([
      'acme/tiny-chat:q4',
      'tiny-chat',
      'tiny-embed',
    ]);
    const shown = await service.client.get('/v1/models/style');
    expect([shown.status, shown.body.code]).toEqual([400, 'wrong_model_kind']);
    expect((await refusalOf({ model: 'style' }))[1]).toContain('is an adapter model');
  });

  it('is shown with the model that it is attached to', async () => {
    const { settings } = (await service.client.get(`/v1/models/${model}`)).body;
    expect(settings.lora).toEqual([
      { name: 'style', scale: 0.5 },
      { name: 'tone', scale: 0 },
    ]);
  });
});
