/** hearth exact ID: shows on this machine that exact=on keeps its promise for a model. */
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { type ExactProof, proveExact } from '../../../server/api/check/prove-exact.ts';
import { findFault } from '../../../contract/settings/check-settings.ts';
import { isExact } from '../../../contract/settings/exact-rules.ts';
import { pickSettings } from '../../../contract/settings/shapes.ts';
import { CliFailure, type CliContext, EXIT_CODES, printable } from '../../context.ts';
import { interruptible, localRegistry, STARTS_OVER } from '../../local-registry.ts';

/** Chosen: a started situation is finished, so the whole takes about a minute. */
const WITHIN_S = 50;
const LONGEST_S = 86_400;
const NAME_WIDTH = 50;

export function registerExact(program: Command, context: CliContext): void {
  program
    .command('exact <id>')
    .description(
      'show that a chat model with exact=on gives the same request the same answer on this machine; as much as a minute allows is compared. Exit code 1: an answer differs, or nothing was compared',
    )
    .option('--within <seconds>', 'begin no situation after this time', String(WITHIN_S))
    .option('--json', 'one JSON document')
    .action(async (id: string, flags: Flags) => {
      await interruptible(context, (signal) => exact(context, id, flags, signal), { again: STARTS_OVER });
    });
}

interface Flags {
  readonly json?: boolean;
  readonly within: string;
}

async function exact(context: CliContext, id: string, flags: Flags, signal: AbortSignal): Promise<void> {
  const seconds = Number(flags.within);
  const isTime = seconds >= 0 && seconds <= LONGEST_S;
  const wrongTime = `--within takes seconds, 0 to ${LONGEST_S}, and not "${flags.within}".`;
  if (!isTime) throw new CliFailure(wrongTime, EXIT_CODES.usage);
  const config = context.config();
  const registry = localRegistry(config);
  const model = await registry.resolve(id, 'chat');
  const settings = { ...pickSettings(model.params), exact: 'on' as const };
  const fault = findFault(settings, 'chat');
  if (fault !== null) throw new CliFailure(`${model.id} cannot be exact: ${fault.wire} ${fault.reason}.`);
  const target = registry.toTarget(model, { numThreads: config.numThreads });
  await target.source.verify();
  const proof = await proveExact({
    worker: { env: context.env, gpu: 'off' },
    target: { ...target, source: { ...target.source, settings } },
    cores: Math.max(2, availableParallelism()),
    withinMs: seconds * 1000,
    signal,
    onSituation: (name) => context.note(printable(`${model.id}: ${name} …`)),
  });
  if (flags.json === true) context.printJson(proof);
  else context.print(lines(proof, isExact(model.params)).map(printable).join('\n'));
  const differing = proof.situations.filter(({ equal, compared }) => equal < compared);
  const where = differing.map(({ name }) => name).join('; ');
  const sentence = `${model.id} is not exact on this machine: answers differ ${where}. Please report this with the output above.`;
  if (differing.length > 0) throw new CliFailure(sentence);
  const nothing = `Nothing was compared within ${seconds} s; give ${model.id} more time with --within SECONDS.`;
  if (proof.situations.every(({ compared }) => compared === 0)) throw new CliFailure(nothing);
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
    ...left.map((name) => `  ${name.padEnd(NAME_WIDTH)}not tried: the time was over (--within)`),
    `${total} of ${compared} answers of ${model} are equal bit for bit${left.length > 0 ? '; the proof is incomplete, so give it more time with --within SECONDS' : ''}.`,
    ...(isSet ? [] : [`It is loaded this way once you run: hearth set ${model} exact=on`]),
  ];
}
