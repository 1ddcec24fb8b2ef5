import { type Command, Argument } from 'commander';
import { settings } from '../../../config/settings.ts';
import type { CliContext } from '../../context.ts';
import { commandTree } from '../../shell/command-tree.ts';
import { completionScript, type Shell, SHELLS } from '../../shell/completions.ts';
import { manualPage } from '../../shell/manual.ts';
import { readVersion } from '../../version.ts';

export function registerCompletion(program: Command, context: CliContext): void {
  program
    .command('completion')
    .description('print the completion script of a shell; how to install it: docs/install.md')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell: Shell) => context.write(completionScript(shell, commandTree(program))));
}

export function registerMan(program: Command, context: CliContext): void {
  program
    .command('man')
    .description('print the manual page; to read it: hearth man | man -l -')
    .action(() =>
      context.write(
        manualPage(commandTree(program), { version: readVersion(), settings: Object.values(settings) }),
      ),
    );
}
