import type { Command } from 'commander';
import { type CliContext, EXIT_CODES, printable } from '../../context.ts';
import { examine, type Finding } from '../../doctor/finding.ts';
import { installationChecks } from '../../doctor/installation.ts';
import { machineChecks } from '../../doctor/machine.ts';

export function registerDoctor(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description('check this machine and this installation, and say what to do')
    .option('--json', 'one JSON array')
    .action(async (flags: { json?: boolean }) => {
      const examined = context.examineConfig();
      const checks = [...installationChecks(context, examined), ...machineChecks(examined.config.home)];
      const findings = await examine(checks);
      if (flags.json === true) context.printJson(findings);
      else context.print(page(findings));
      if (findings.some(({ verdict }) => verdict === 'problem')) context.setExitCode(EXIT_CODES.failure);
    });
}

function page(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ about }) => about.length));
  const lines = findings.flatMap(({ about, verdict, found, remedy }) => [
    `${verdict.padEnd('warning'.length)}  ${about.padEnd(width)}  ${printable(found)}`,
    ...(remedy === undefined ? [] : [`${' '.repeat(width + 11)}→ ${printable(remedy)}`]),
  ]);
  const count = (verdict: Finding['verdict']) => findings.filter((each) => each.verdict === verdict).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  const sum =
    problems + warnings === 0 ? 'Nothing is wrong.' : `Problems: ${problems}. Warnings: ${warnings}.`;
  return [...lines, '', sum].join('\n');
}
