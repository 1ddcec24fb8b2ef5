/**
 * hearth rollback: restores the state before the last upgrade: library, model with its revision and settings,
 * default.
 */
import type { Command } from 'commander';
import { readable } from '../../../lib/base/byte-size.ts';
import { librariesFolder, PACKAGED } from '../../../lib/files/native-library.ts';
import { readText } from '../../../lib/files/plain-file.ts';
import { type FormerState, readFormer } from '../../../store/files/former.ts';
import { forgetStates, isAlike, restoreState } from '../../../store/install/upgrade.ts';
import { switchOwn } from '../../../store/libraries/own.ts';
import type { Registry } from '../../../store/registry/registry.ts';
import { type CliContext, CliFailure, EXIT_CODES, printable } from '../../context.ts';
import { localRegistry } from '../../local-registry.ts';
import { restartService } from './restart.ts';
import { hashBuild, libraryState } from './upgrade.ts';

interface Flags {
  readonly list?: boolean;
  readonly forget?: boolean;
  readonly json?: boolean;
}

export function registerRollback(program: Command, context: CliContext): void {
  program
    .command('rollback')
    .description(
      'bring back the state before the last hearth upgrade --switch: the library, and the model with its files and settings',
    )
    .option('--list', 'show the states that are kept, the latest first')
    .option('--forget', 'give them up, and delete the files that only they need')
    .option('--json', 'with --list: one JSON document')
    .action((flags: Flags) => {
      const registry = localRegistry(context.config());
      if (flags.list === true) return list(context, registry, flags.json === true);
      return flags.forget === true ? forget(context, registry) : rollback(context, registry);
    });
}

async function list(context: CliContext, registry: Registry, json: boolean): Promise<void> {
  const states = [...(await readFormer(registry.store.paths))].reverse();
  if (json) {
    return context.printJson(
      states.map(({ at, change, library, model }) => ({
        at,
        before: change,
        library: library.name ?? PACKAGED,
        model: model.id,
      })),
    );
  }
  if (states.length === 0) return context.note(NOTHING);
  for (const state of states) context.print(printable(`${state.at}  before ${state.change}`));
}

const NOTHING = 'No former state is kept; hearth upgrade --switch keeps the one that it replaces.';

async function forget(context: CliContext, registry: Registry): Promise<void> {
  context.note(`${readable(await forgetStates(registry))} freed; hearth rollback has nothing to bring back.`);
}

async function rollback(context: CliContext, registry: Registry): Promise<void> {
  const libraries = librariesFolder(context.config().home);
  const present = await libraryState(libraries);
  const state = await lastOther(registry, present);
  if (state === null) throw new CliFailure(NOTHING, EXIT_CODES.notFound);
  const { library, model } = state;
  // Checks that everything can change before anything changes.
  if ((await hashBuild(libraries, library.name ?? PACKAGED)) !== library.sha256) {
    throw new CliFailure(
      `the build ${library.name} of the former state was removed or replaced; build it again under that name, or choose another: hearth library switch`,
    );
  }
  const isThere = (await registry.list()).some(({ id }) => id === model.id);
  if (isThere) await registry.toTarget(model).source.verify();
  const isOtherLibrary = library.name !== present.name;
  if (isOtherLibrary) await switchOwn(libraries, library.name ?? PACKAGED);
  await restoreState(registry, state);
  context.note(
    printable(
      `The state before ${state.change} is back: ${isThere ? `${model.id}, on ` : ''}llama.cpp ${library.name ?? PACKAGED}.`,
    ),
  );
  if (isOtherLibrary)
    await restartService(context, { done: 'the library is switched back', old: 'the other library' });
}

/** An upgrade that was killed before it changed anything leaves a state equal to the present one, which is skipped. */
async function lastOther(registry: Registry, present: FormerState['library']): Promise<FormerState | null> {
  const defaults = await readText(registry.store.paths.defaults);
  const models = await registry.list();
  const isPresent = (state: FormerState): boolean => {
    const model = models.find(({ id }) => id === state.model.id);
    const isSameLibrary = state.library.name === present.name && state.library.sha256 === present.sha256;
    const isSameModel = model === undefined || isAlike(state.model, model);
    return isSameLibrary && isSameModel && state.defaults === defaults;
  };
  return (await readFormer(registry.store.paths)).findLast((state) => !isPresent(state)) ?? null;
}
