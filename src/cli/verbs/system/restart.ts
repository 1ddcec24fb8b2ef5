import { CliFailure, type CliContext } from '../../context.ts';
import { homeHolder, isServing } from '../../home-lock.ts';
import { runProgram, showProgram } from '../../service/programs.ts';
import { installedPlans } from './service.ts';

interface Change {
  readonly done: string;
  readonly old: string;
}

/** Restarts a running unit. Any other service is only named, because its user knows how it is started. */
export async function restartService(context: CliContext, change: Change): Promise<void> {
  for (const plan of installedPlans(context)) {
    if ((await runProgram(plan.active)).code !== 0) continue;
    for (const command of plan.restart) await restarted(command, change);
    return context.note(`The service is restarted: ${plan.file}`);
  }
  const holder = await homeHolder(context.config().home);
  if (holder !== null && isServing(holder.purpose)) {
    context.note(
      `The service, process ${holder.pid}, still runs ${change.old}: hearth quit, then start it again.`,
    );
  }
}

async function restarted(command: readonly string[], { done, old }: Change): Promise<void> {
  const code = await showProgram(command);
  if (code === 0) return;
  const why = code === null ? `there is no ${command[0]} on PATH` : `exit code ${code}`;
  throw new CliFailure(
    `${done}, but the service still runs ${old} (${why}); restart it with: ${command.join(' ')}`,
  );
}
