import type { Command } from 'commander';
import { type VerifyResult, verifyModel } from '../../../store/install/verify.ts';
import { CliFailure, type CliContext, printable } from '../../context.ts';
import { showProgress } from '../../install-progress.ts';
import { interruptible, localRegistry } from '../../local-registry.ts';

export function registerVerify(program: Command, context: CliContext): void {
  program
    .command('verify [id...]')
    .description('check the files of models, by default of all, against their digests')
    .option('--json', 'one JSON array')
    .action(async (ids: string[], flags: { json?: boolean }) => {
      await interruptible(context, (signal) => verify(context, ids, flags.json === true, signal));
    });
}

async function verify(
  context: CliContext,
  ids: readonly string[],
  json: boolean,
  signal: AbortSignal,
): Promise<void> {
  const registry = localRegistry(context.config());
  const names = ids.length > 0 ? ids : (await registry.list()).map((model) => model.id);
  const results: VerifyResult[] = [];
  for (const name of names) {
    const shown = showProgress(context, false);
    try {
      results.push(
        await verifyModel(registry, name, { signal, ...(json ? {} : { onEvent: shown.onEvent }) }),
      );
    } finally {
      shown.end();
    }
  }
  if (json) context.printJson(results);
  else for (const result of results) context.print(describe(result));
  const bad = results.filter((result) => !result.ok);
  if (bad.length > 0)
    throw new CliFailure(`${bad.length} of ${results.length} models differ from what was installed`);
}

function describe(result: VerifyResult): string {
  const faults = result.files.filter((file) => file.reason !== null);
  const detail = faults.map((file) => `: ${file.path}: ${file.reason}`).join('');
  return printable(`${result.id} ${result.ok ? 'ok' : 'damaged'}${detail}`);
}
