import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Config } from '../../../config/config.ts';
import type { OwnerLock } from '../../../store/lock/owner-lock.ts';
import { takeHome } from '../../home-lock.ts';
import { routes } from '../../../wire/routes.ts';
import { callServer } from '../../api.ts';
import { CliFailure, type CliContext, EXIT_CODES, table } from '../../context.ts';
import type { BenchReport } from './bench-plot.ts';

interface BenchFlags {
  readonly json?: boolean;
  readonly svg?: string;
}

export function registerBench(program: Command, context: CliContext): void {
  program
    .command('bench [model]')
    .description('measure a model: prefill, decoding of 1, 2, 4 and 8 answers at once, and embeddings')
    .option('--json', 'one JSON document')
    .option('--svg <file>', 'write a plot of the decoding speeds to this file')
    .action(async (model: string | undefined, flags: BenchFlags) => {
      const report = await bench(context, model ?? 'default');
      if (flags.svg !== undefined) {
        const { benchPlot } = await import('./bench-plot.ts');
        await writeFile(flags.svg, benchPlot(report));
      }
      if (flags.json === true) return context.printJson(report);
      context.print(table([['MEASURED', 'SPEED'], ...benchRows(report)]));
      if (report.numCtx !== null) context.note(`Loaded with a window of ${report.numCtx} tokens.`);
    });
}

function benchRows({ prefillTokensPerS, decode, embeddingModel, embeddingsPerS }: BenchReport): string[][] {
  const tokens = (value: number | null) => (value === null ? 'not measured' : `${value.toFixed(1)} tokens/s`);
  return [
    ['prefill', tokens(prefillTokensPerS)],
    ...decode.map(({ streams, tokensPerS }) => [
      `decode, ${streams} ${streams === 1 ? 'answer' : 'answers'}`,
      tokens(tokensPerS),
    ]),
    embeddingsPerS === null
      ? ['embeddings', 'no embedding model']
      : [`embeddings, ${embeddingModel}`, `${embeddingsPerS.toFixed(1)} inputs/s`],
  ];
}

async function bench(context: CliContext, model: string): Promise<BenchReport> {
  const { runBench } = await import('./bench-run.ts');
  const config = context.config();
  const say = (line: string): void => context.note(line);
  if (await answers(config)) return { ...(await runBench(config, model, say)), service: 'running' };
  return withPrivateService(context, async (own) => ({
    ...(await runBench(own, model, say)),
    service: 'private' as const,
  }));
}

async function answers(config: Config): Promise<boolean> {
  try {
    return (await callServer(config, 'GET', routes.health.path)).status === 200;
  } catch (error) {
    if (error instanceof CliFailure && error.exitCode === EXIT_CODES.unreachable) return false;
    throw error;
  }
}

/** Serves in this process, on a free port of the loopback address; the home is locked meanwhile. */
async function withPrivateService<T>(context: CliContext, work: (config: Config) => Promise<T>): Promise<T> {
  const { startApp } = await import('../../../server/app.ts');
  const { openLog } = await import('../../log/logger.ts');
  const { openBuiltins, registerBuiltins } = await import('../../builtin-models.ts');
  const { readVersion } = await import('../../version.ts');
  const plain = { socket: null, tlsCert: null, tlsKey: null };
  const config: Config = { ...context.config({ host: '127.0.0.1', port: '0' }), ...plain };
  const { logger } = openLog({ level: 'error', home: null });
  // Creates the home folder that contains the lock.
  const running = await startApp({
    quit: () => undefined,
    config,
    version: readVersion(),
    logger,
    env: process.env,
    builtins: openBuiltins(config.home),
  });
  let lock: OwnerLock | undefined;
  try {
    lock = await takeHome(config.home, 'hearth bench');
    await running.registry.recover();
    await registerBuiltins(config.home, running.registry, logger);
    running.open();
    return await work({ ...config, port: running.port });
  } finally {
    await running.close(0);
    await lock?.release();
  }
}
