/** Every sampling option of the table: from a request, and where a model may have a default, from that. */
import { afterEach, describe, expect, it } from 'vitest';
import type { GenerateJob } from '../../src/contract/job.ts';
import { MODEL_ROWS, type ModelOption, SAMPLING_ROWS } from '../../src/contract/sampling-shapes.ts';
import { setParams } from '../../src/store/install/changes.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const model = installed.slashed;

/** A value that is no default, and one to win over it. */
const VALUES: Readonly<Record<string, readonly [number, number]>> = {
  temperature: [0.25, 0.5],
  seed: [7, 8],
  topK: [5, 6],
  repetitionGuard: [300, 400],
  callGuard: [3, 4],
  topP: [0.25, 0.5],
  minP: [0.25, 0.5],
  repeatPenalty: [1.25, 1.5],
  repeatLastN: [12, 0],
  presencePenalty: [-1, 0.5],
  frequencyPenalty: [-1, 0.5],
  xtcProbability: [0.5, 1],
  xtcThreshold: [0.25, 0.5],
  typicalP: [0.25, 0.5],
  topNSigma: [1, 2],
};

async function samplingOf(fields: object): Promise<GenerateJob['sampling']> {
  const { status } = await service.client.chat({ model, ...fields });
  expect(status).toBe(200);
  return (service.engine.lastJob.submission.job as GenerateJob).sampling;
}

const removing = Object.fromEntries(MODEL_ROWS.map(([option]) => [option, null]));
afterEach(async () => {
  await setParams(service.registry, model, removing);
});

describe('a sampling option', () => {
  it('has values to be tried with, unless its values are no numbers', () => {
    const untried = SAMPLING_ROWS.map(([option]) => option).filter((option) => VALUES[option] === undefined);
    expect(untried).toEqual(['logitBias']);
  });

  it('can be a default of a model, unless it speaks of the tokens of one prompt', () => {
    const wires = MODEL_ROWS.map(([, { wire }]) => wire);
    expect(wires).toContain('repeat_last_n');
    expect(wires).toHaveLength(SAMPLING_ROWS.length - 1);
  });

  it.each(SAMPLING_ROWS.filter(([option]) => VALUES[option] !== undefined))(
    '%s goes from the request to the job, and null is as absent',
    async (option, { wire }) => {
      const [value] = VALUES[option] ?? [];
      expect((await samplingOf({ [wire]: value }))[option]).toBe(value);
      const silent = await samplingOf({ [wire]: null });
      expect(silent[option] === undefined || option === 'seed').toBe(true);
    },
  );

  it.each(MODEL_ROWS)('%s can be a default of a model, and a request wins', async (option, { wire }) => {
    const [value = Number.NaN, other] = VALUES[option] ?? [];
    const patch: { [Key in ModelOption]?: number } = { [option]: value };
    await setParams(service.registry, model, patch);
    expect((await samplingOf({}))[option]).toBe(value);
    expect((await samplingOf({ [wire]: other }))[option]).toBe(other);
  });
});

describe('logit_bias', () => {
  it('becomes pairs, and an empty one is none', async () => {
    expect((await samplingOf({ logit_bias: { 5: -100, 7: 1.5 } })).logitBias).toEqual([
      [5, -100],
      [7, 1.5],
    ]);
    expect((await samplingOf({ logit_bias: {} })).logitBias).toBeUndefined();
  });

  it('may be pairs of a token or a text and a bias, of which false forbids', async () => {
    const pairs = [
      [5, false],
      ['5', 2],
      [7, 1.5],
      ['river', -100],
    ];
    expect((await samplingOf({ logit_bias: pairs })).logitBias).toEqual([
      [5, -100],
      [7, 1.5],
    ]);
    const { biasedTexts } = service.engine.lastJob.submission.job as GenerateJob;
    expect(biasedTexts).toEqual([
      ['5', 2],
      ['river', -100],
    ]);
    expect((await samplingOf({ logit_bias: [] })).logitBias).toBeUndefined();
  });

  it('counts the last of several for one token', async () => {
    const pairs = [
      [5, 2],
      [7, 1],
      [5, false],
    ];
    const expected = [
      [5, -100],
      [7, 1],
    ];
    expect((await samplingOf({ logit_bias: pairs })).logitBias).toEqual(expected);
    expect((await samplingOf({ logit_bias: { 5: -100, 7: 2, '07': 1 } })).logitBias).toEqual(expected);
  });

  it.each([
    [[[5]]],
    [[[5, 1, 1]]],
    [[[5, '1']]],
    [[[5, null]]],
    [[[5, true]]],
    [[[5, 101]]],
    [[[-5, 1]]],
    [[[1.5, 1]]],
    [[['', 1]]],
    [[[[5], 1]]],
    [[5, 1]],
    ['5'],
  ])('of %j is a 400 that names it', async (logit_bias) => {
    const { status, body } = await service.client.chat({ logit_bias });
    expect([status, body.param]).toEqual([400, expect.stringMatching(/^logit_bias/)]);
  });
});
