import type { Command } from 'commander';
import { isFailure } from '../../../lib/errors/svc-error.ts';
import { readable } from '../../../lib/base/byte-size.ts';
import { librariesFolder } from '../../../lib/files/native-library.ts';
import { isServed } from '../../../store/files/manifest.ts';
import { knownName } from '../../../store/hub/choose/known-names.ts';
import type { InstalledModel } from '../../../store/registry/registry.ts';
import { CliFailure, type CliContext, printable, table } from '../../context.ts';
import { interruptible, localRegistry } from '../../local-registry.ts';
import { cardWords } from '../../words/card-words.ts';

interface FitFlags {
  readonly json?: boolean;
}

export function registerFit(program: Command, context: CliContext): void {
  program
    .command('fit <model>')
    .description('show the memory and speed of a model on this machine, or which quants of a repository fit')
    .option('--json', 'one JSON document')
    .action(async (name: string, flags: FitFlags) => {
      const model = await installed(context, name);
      await (model === null ? fitRepository(context, name, flags) : fitInstalled(context, model, flags));
    });
}

async function installed(context: CliContext, name: string): Promise<InstalledModel | null> {
  try {
    return await localRegistry(context.config()).find(name);
  } catch (error) {
    const isReference = name.includes('/') || knownName(name) !== null;
    if (isReference && isFailure(error, 'model_not_found')) return null;
    throw error;
  }
}

async function fitInstalled(context: CliContext, model: InstalledModel, flags: FitFlags): Promise<void> {
  if (!isServed(model)) throw new CliFailure(`${model.id} is an adapter; name the model that it belongs to`);
  const { fitModel } = await import('../../../server/api/fit/fit-model.ts');
  const { memoryBandwidth } = await import('../../../server/api/fit/bandwidth.ts');
  const { home, gpu, numCtx, numThreads, numParallel: slots } = context.config();
  const registry = localRegistry(context.config());
  const companions = await registry.companions(model);
  const target = registry.toTarget(model, { numCtx, numThreads, companions });
  const settings = { env: context.env, gpu, libraries: librariesFolder(home) };
  const fit = await fitModel(target, { settings, slots });
  const { lastCard } = await import('../../../server/api/eval/card.ts');
  const card = model.kind === 'chat' ? await lastCard(home, model) : null;
  const bandwidth = fit.onGpu ? null : await memoryBandwidth(home);
  const mostTokensPerS = bandwidth === null ? null : bandwidth.bytesPerS / fit.weightsBytes;
  if (flags.json === true)
    return context.printJson({ id: model.id, ...fit, bandwidth, mostTokensPerS, eval: card });
  const rows = fit.windows.map((each) => [
    String(each.numCtx),
    String(each.slots),
    readable(each.bytes),
    each.fits ? 'yes' : 'no',
    each.numCtx === fit.load?.numCtx ? 'a load takes this' : '',
  ]);
  context.print(table([['WINDOW', 'SLOTS', 'MEMORY', 'FITS NOW', ''], ...rows]));
  const free = fit.free.map(({ device, bytes }) => `${device} ${readable(bytes)}`).join(', ');
  context.note(`Free for models: ${free}.`);
  context.note(
    fit.load === null
      ? 'Not even the smallest window fits now; stop other programs or models, or take a smaller quant.'
      : `A load gets a window of ${fit.load.numCtx} tokens and ${fit.load.slots} slots${fit.load.cells < fit.load.numCtx * fit.load.slots ? ' that share it' : ''}.`,
  );
  if (model.kind !== 'chat') return;
  if (card !== null) context.note(printable(`Measured: ${cardWords(card)}`));
  if (bandwidth === null || mostTokensPerS === null)
    return context.note('A GPU takes part; hearth bench measures its speed.');
  const busy = bandwidth.busy ? ' The machine is busy, so it may be more.' : '';
  const moe = fit.isMixture ? ' A mixture of experts reads a part of its weights, and is faster.' : '';
  context.note(
    `One answer: at most ${mostTokensPerS.toFixed(1)} tokens/s, because memory is read at ${(bandwidth.bytesPerS / 1e9).toFixed(1)} GB/s and each token reads all weights.${moe}${busy} hearth bench measures it.`,
  );
}

async function fitRepository(context: CliContext, ref: string, flags: FitFlags): Promise<void> {
  const { listQuants } = await import('../../../store/hub/choose/quants.ts');
  const { fitQuants, freeForModels } = await import('../../../server/api/fit/fit-quants.ts');
  const { hubOptions } = await import('./hub-options.ts');
  await interruptible(context, async (signal) => {
    const { repo, quants } = await listQuants(ref, { ...(await hubOptions(context)), signal });
    const freeBytes = freeForModels();
    const fit = fitQuants(quants, freeBytes);
    if (flags.json === true) return context.printJson({ repo, freeBytes, ...fit });
    const rows = fit.quants.map((each) => [
      each.label,
      readable(each.sizeBytes),
      each.fits ? 'yes' : 'no',
      each.label === fit.advised ? 'advised' : '',
    ]);
    context.print(table([['QUANT', 'SIZE', 'FITS NOW', ''], ...rows]));
    context.note(
      printable(
        fit.advised === null
          ? `None of them fits in ${readable(freeBytes)}; look for a smaller model.`
          : `${readable(freeBytes)} are free. Fetch it with: hearth pull ${repo}:${fit.advised}`,
      ),
    );
  });
}
