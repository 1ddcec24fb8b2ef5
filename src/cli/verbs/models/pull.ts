import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { showProgress } from '../../install-progress.ts';
import { announcing } from '../../new-model.ts';
import { interruptible, localRegistry, probeHere, signaturesHere } from '../../local-registry.ts';

interface PullFlags {
  readonly id?: string;
  readonly name?: string;
  readonly tokenFile?: string;
  readonly probe: boolean;
  readonly default?: boolean;
  readonly json?: boolean;
}

export function registerPull(program: Command, context: CliContext): void {
  program
    .command('pull <ref>')
    .description('fetch a model: hf:user/repo[:QUANT], hf.co/user/repo:QUANT, or the URL of a .gguf file')
    .option('--id <id>', 'install under this id')
    .option('--name <id>', 'the same as --id')
    .option('--token-file <file>', 'read the hub token from this file, not from HF_TOKEN or the stored login')
    .option('--no-probe', 'skip the trial run in a separate process')
    .option('--no-default', 'keep the present default models, for later installs too')
    .option('--json', 'progress as JSON lines')
    .action(async (ref: string, { name, ...given }: PullFlags) => {
      await pull(context, ref, name === undefined ? given : { id: name, ...given });
    });
}

export async function pull(context: CliContext, ref: string, flags: PullFlags): Promise<string | null> {
  // Loaded on demand: no other verb pays for the hub client.
  const { pullModel } = await import('../../../store/hub/pull.ts');
  const { hubOptions } = await import('../choose/hub-options.ts');
  const hub = await hubOptions(context, flags.tokenFile);
  const shown = showProgress(context, flags.json === true);
  const registry = localRegistry(context.config());
  const id = await interruptible(context, (signal) =>
    announcing(
      flags.json === true ? null : context,
      registry,
      async () => {
        let installed: string | null = null;
        let hasBytes = false;
        try {
          const events = pullModel(registry, ref, {
            ...(flags.id === undefined ? {} : { id: flags.id }),
            ...(flags.probe ? { probe: probeHere(context) } : {}),
            signatures: signaturesHere(context),
            ...hub,
            signal,
          });
          for await (const event of events) {
            shown.onEvent(event);
            if (event.status === 'success') installed = event.id;
            if (event.status === 'downloading') hasBytes ||= event.completed > 0;
          }
        } catch (error) {
          if (hasBytes && !signal.aborted)
            context.note('What has arrived is kept; the same command continues with it.');
          throw error;
        } finally {
          shown.end();
        }
        return installed;
      },
      flags.default,
    ),
  );
  return id ?? null;
}
