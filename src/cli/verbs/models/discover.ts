import type { Command } from 'commander';
import { discover } from '../../../store/foreign/discover.ts';
import { type CliContext, printable, table } from '../../context.ts';
import { foreignEnvironment } from '../../local-registry.ts';

export function registerDiscover(program: Command, context: CliContext): void {
  program
    .command('discover')
    .description('list models of Ollama, LM Studio, llama.cpp, Jan and the Hugging Face cache')
    .option('--json', 'one JSON array')
    .action(async (flags: { json?: boolean }) => {
      const scans = await discover(foreignEnvironment(context));
      if (flags.json === true) return context.printJson(scans);
      for (const problem of scans.flatMap((scan) => scan.problems))
        context.note(printable(`${problem.path}: ${problem.reason}`));
      const rows = scans.flatMap((scan) =>
        scan.candidates.map((candidate) => [scan.store, candidate.id, candidate.files[0]?.path ?? '']),
      );
      if (rows.length === 0) return context.note('No models of other programs were found.');
      context.print(table([['STORE', 'MODEL', 'FILE'], ...rows]));
      context.note('Install one with: hearth import --from STORE MODEL');
    });
}
