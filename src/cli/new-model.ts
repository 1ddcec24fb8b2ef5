/** What an installation changes beyond the model itself, for the person who asked for it. */
import type { Registry } from '../store/registry/registry.ts';
import { type CliContext, printable } from './context.ts';
import { BASE_MODEL } from './conversation/base-model.ts';

/** Runs an installation, then says what `default` means now, and whether the model can chat; to nobody, if `context` is null. */
export async function announcing(
  context: Pick<CliContext, 'note'> | null,
  registry: Registry,
  install: () => Promise<string | null>,
): Promise<void> {
  const before = await registry.defaultId('chat');
  const id = await install();
  if (id === null || context === null) return;
  const model = await registry.find(id);
  if (model.kind === 'chat' && !model.facts.hasChatTemplate && model.params.template === undefined)
    context.note(printable(`${id} ${BASE_MODEL}`));

  if (before !== id && (await registry.defaultId('chat')) === id) {
    const change = before === null ? '' : `; hearth default ${before} makes ${before} the default again`;
    context.note(printable(`${id} is the default chat model now${change}.`));
  }
}
