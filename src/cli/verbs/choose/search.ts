/**
 * cli/verbs/choose owns the verbs that help to choose a model: hub searches, memory fit and speed. It knows nothing
 * of how a model is installed. This file: hearth search.
 */
import type { Command } from 'commander';
import { type CliContext, table } from '../../context.ts';
import { interruptible } from '../../local-registry.ts';

export function registerSearch(program: Command, context: CliContext): void {
  program
    .command('search <words...>')
    .description('look for models on the hub; hearth fit lists the sizes of one, hearth pull fetches it')
    .option('--json', 'one JSON array')
    .action(async (words: string[], flags: { json?: boolean }) => {
      // Loaded on demand: no other verb pays for the hub client.
      const { searchHub } = await import('../../../store/hub/choose/search.ts');
      const { hubOptions } = await import('./hub-options.ts');
      await interruptible(context, async (signal) => {
        const found = await searchHub(words, { ...(await hubOptions(context)), signal });
        if (flags.json === true) return context.printJson(found);
        if (found.length === 0)
          return context.note(`The hub has no GGUF models for "${words.join(' ')}"; try fewer words.`);
        const rows = found.map(({ repo, downloads, likes, gated }) => [
          repo,
          String(downloads),
          String(likes),
          gated ? 'terms to accept' : '',
        ]);
        context.print(table([['REPOSITORY', 'DOWNLOADS', 'LIKES', ''], ...rows]));
        context.note('Sizes, and which of them fit here: hearth fit REPOSITORY');
      });
    });
}
