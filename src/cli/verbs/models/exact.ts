/** hearth exact ID: shows on this machine that exact=on keeps its promise for a model, in workers of its own. */
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { type ExactProof, proveExact } from '../../../api/check/prove-exact.ts';
import { findFault } from '../../../contract/settings/check-settings.ts';
import { isExact } from '../../../contract/settings/exact-rules.ts';
import { settingsOf } from '../../../contract/settings/shapes.ts';
import { CliFailure, type CliContext, printable } from '../../context.ts';
import { interruptible, localRegistry } from '../../local-registry.ts';

/** A situation that has begun ends, so the whole stays within a minute or so. */
const WITHIN_MS = 50_000;
const NAME_WIDTH = 50;

export function registerExact(program: Command, context: CliContext): void {
  program
    .command('exact <id>')
    .description(
      'show that a chat model with exact=on gives the same request the same answer on this machine, within a minute',
    )
    .option('--json', 'one JSON document')
    .action(async (id: string, flags: { json?: boolean }) => {
      await interruptible(context, (signal) => exact(context, id, flags.json === true, signal));
    });
}

async function exact(context: CliContext, id: string, json: boolean, signal: AbortSignal): Promise<void> {
  const config = context.config();
  const registry = localRegistry(config);
  const model = await registry.resolve(id, 'chat');
  const settings = { ...settingsOf(model.params), exact: 'on' as const };
  const fault = findFault(settings, 'chat');
  if (fault !== null) throw new CliFailure(`${model.id} cannot be exact: ${fault.wire} ${fault.reason}.`);
  const target = registry.toTarget(model, { numThreads: config.numThreads });
  await target.source.verify();
  const proof = await proveExact({
    worker: { env: context.env, gpu: 'off' },
    target: { ...target, source: { ...target.source, settings } },
    cores: Math.max(2, availableParallelism()),
    withinMs: WITHIN_MS,
    signal,
    onSituation: (name) => context.note(printable(`${model.id}: ${name} …`)),
  });
  if (json) context.printJson(proof);
  else context.print(lines(proof, isExact(model.params)).map(printable).join('\n'));
  const differing = proof.situations.filter(({ equal, compared }) => equal < compared);
  if (differing.length > 0)
    throw new CliFailure(
      `${model.id} is not exact on this machine: answers differ ${differing.map(({ name }) => name).join('; ')}. Please report this with the output above.`,
    );
}

function lines({ model, requests, tokens, situations, left }: ExactProof, isSet: boolean): string[] {
  const total = situations.reduce((sum, { equal }) => sum + equal, 0);
  const compared = situations.reduce((sum, situation) => sum + situation.compared, 0);
  return [
    `Compared with a lone cold run of ${requests} requests (${tokens} tokens; one slot, one thread, nothing cached):`,
    'text, finish reason and the bits of 20 log probabilities of each step.',
    ...situations.map(
      ({ name, equal, compared: of, cachedTokens }) =>
        `  ${name.padEnd(NAME_WIDTH)}${equal} of ${of} equal, ${cachedTokens} prompt tokens from the cache`,
    ),
    ...left.map((name) => `  ${name.padEnd(NAME_WIDTH)}not tried within a minute`),
    `${total} of ${compared} answers of ${model} are equal bit for bit.`,
    ...(isSet ? [] : [`It is loaded this way once you run: hearth set ${model} exact=on`]),
  ];
}
