/**
 * The process that is killed. It reads one JSON plan from its arguments, says `ready`, waits for a line on stdin,
 * and runs the commands, saying `done <name>` after each. With `killAt` it ends itself at that step.
 */
import { once } from 'node:events';
import { type CommandName, runCommand, type StoreWorld } from './store-commands.ts';

interface Plan {
  readonly world: StoreWorld;
  readonly commands: readonly CommandName[];
  /** The step, and which of its occurrences. */
  readonly killAt?: { readonly step: string; readonly occurrence: number };
}

const plan = JSON.parse(process.argv[2] ?? '{}') as Plan;
const seen = new Map<string, number>();

async function onStep(step: string): Promise<void> {
  const count = (seen.get(step) ?? 0) + 1;
  seen.set(step, count);
  if (plan.killAt?.step !== step || plan.killAt.occurrence !== count) return;
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
}

process.stdout.write('ready\n');
await once(process.stdin, 'data');
for (const name of plan.commands) {
  await runCommand(name, plan.world, onStep);
  process.stdout.write(`done ${name}\n`);
}
process.exit(0);
