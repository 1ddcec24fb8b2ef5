/** What happens when another program takes the card's memory: before a load, and under a model that is loaded. */
import type { Side } from '../client/side.ts';
import { askOnce, outcomeOf } from './ask.ts';
import type { Bench, BenchModel } from './bench.ts';
import { occupy, usedMiB } from './card.ts';
import { memoryCells, residency } from './residency.ts';
import type { Sheet } from './run-steps.ts';

/** Room for all of a small model but not of a large one, for a few layers, and for nothing. */
const LEFT_MIB = [4096, 1024, 128];
const SHORT = { words: 30, tokens: 32 };
const LONG = { words: 1500, tokens: 8 };
const AT_ONCE = 8;
const NO_DRIVER = 'there is no CUDA driver, so no memory could be taken';

const sideOf = ({ hearth }: Bench, { id }: BenchModel): Side => ({
  name: 'hearth',
  url: hearth.url,
  model: id,
  extra: { ignore_eos: true },
});

/** Loads the model while so much of the card is free. */
export async function shortLoads(bench: Bench, model: BenchModel, { rows, signal }: Sheet): Promise<void> {
  await bench.hearth.ensure();
  for (const [at, leave] of LEFT_MIB.entries()) {
    await bench.hearth.verb('stop', model.id);
    const taken = await occupy(leave);
    if (taken === null) throw new Error(NO_DRIVER);
    try {
      const result = await outcomeOf(askOnce(sideOf(bench, model), { ...SHORT, seed: 90 + at, signal }));
      const resident = await residency(bench, model).catch(() => null);
      rows.push({
        'free MiB before': taken.freeMiB,
        result,
        window: resident?.num_ctx ?? null,
        slots: resident?.slots ?? null,
        ...(resident && memoryCells(resident)),
      });
    } finally {
      await taken.release();
    }
  }
}

/** Takes all that is left of the card from under a loaded model, asks it for more than before, and asks again after. */
export async function takenFromUnder(
  bench: Bench,
  model: BenchModel,
  { rows, signal }: Sheet,
): Promise<void> {
  const side = sideOf(bench, model);
  await bench.hearth.ensure();
  await bench.hearth.verb('stop', model.id);
  const note = async (what: string, result: string) => {
    const resident = await residency(bench, model).catch(() => null);
    rows.push({ what, result, 'card MiB': await usedMiB(), ...(resident && memoryCells(resident)) });
  };
  await note('first answer', await outcomeOf(askOnce(side, { ...SHORT, seed: 100, signal })));
  const taken = await occupy(2);
  if (taken === null) throw new Error(NO_DRIVER);
  try {
    const many = Array.from({ length: AT_ONCE }, (_, at) =>
      outcomeOf(askOnce(side, { ...LONG, seed: 110 + at, signal })),
    );
    const said = await Promise.all(many);
    await note(`${AT_ONCE} long prompts with ${taken.freeMiB} MiB free`, [...new Set(said)].join('; '));
    await note('one more', await outcomeOf(askOnce(side, { ...SHORT, seed: 120, signal })));
  } finally {
    await taken.release();
  }
  await note('after it was given back', await outcomeOf(askOnce(side, { ...SHORT, seed: 130, signal })));
}
