/** The changes of a store that the crash tests interrupt; run by the test itself and by the process that is killed. */
import { addAlias, copyModel, prune, removeModel, setParams } from '../../../../src/store/install/changes.ts';
import { importFile } from '../../../../src/store/install/import.ts';
import { pullModel } from '../../../../src/store/hub/pull.ts';
import { isFailure } from '../../../../src/lib/errors/svc-error.ts';
import { readFormer } from '../../../../src/store/files/former.ts';
import { restoreState, takeFiles } from '../../../../src/store/install/upgrade.ts';
import { openRegistry } from '../../../../src/store/registry/registry.ts';
import type { StepHook } from '../../../../src/lib/files/durable.ts';

export interface StoreWorld {
  readonly home: string;
  /** Two GGUF files of different bytes. */
  readonly files: readonly [string, string];
  /** A hub that offers a third under `Some/Model-GGUF`. */
  readonly endpoint: string;
  readonly cdnHost: string;
}

export const commandNames = [
  'import-copy',
  'import-copy-again',
  'import-reference',
  'pull',
  'alias',
  'copy',
  'set',
  'default',
  'upgrade',
  'rollback',
  'prune',
  'rm',
  'rm-other',
  'rm-pulled',
] as const;
export type CommandName = (typeof commandNames)[number];

export const PULLED_ID = 'some/model-gguf:q4_0';

/** Runs one command; one that finds nothing to do is done. */
export async function runCommand(name: CommandName, world: StoreWorld, onStep?: StepHook): Promise<void> {
  const registry = openRegistry({ home: world.home, ...(onStep ? { onStep } : {}) });
  const installed = async (id: string) => (await registry.list()).some((model) => model.id === id);
  switch (name) {
    case 'import-copy':
      await importFile(registry, world.files[0], { id: 'one', copy: true }).catch((error: unknown) => {
        // After an upgrade the id has another file.
        if (!isFailure(error, 'model_exists')) throw error;
      });
      return;
    case 'import-copy-again':
      // The same bytes under another id: the blob is shared.
      await importFile(registry, world.files[0], { id: 'two', copy: true });
      return;
    case 'import-reference':
      await importFile(registry, world.files[1], { id: 'three' });
      return;
    case 'pull': {
      const pulled = pullModel(registry, 'Some/Model-GGUF', {
        endpoint: world.endpoint,
        trustedHosts: [world.cdnHost],
      });
      for await (const event of pulled) void event;
      return;
    }
    case 'alias':
      if (await installed('one')) await addAlias(registry, 'one', 'another:name');
      return;
    case 'copy':
      if ((await installed('one')) && !(await installed('copy'))) await copyModel(registry, 'one', 'copy');
      return;
    case 'set':
      if (await installed('one'))
        await setParams(registry, 'one', { numCtx: 64 + Math.floor(Math.random() * 64) });
      return;
    case 'default':
      if (await installed('one')) await registry.setDefault('one');
      return;
    case 'upgrade':
      if ((await installed('one')) && (await installed('three'))) {
        const model = await registry.resolve('one', 'chat');
        const next = await registry.resolve('three', 'chat');
        await takeFiles(
          registry,
          { model, next },
          { at: 'now', change: 'one with the files of three', library: { name: null, sha256: null } },
        );
      }
      return;
    case 'rollback': {
      const state = (await readFormer(registry.store.paths)).at(-1);
      if (state !== undefined) await restoreState(registry, state);
      return;
    }
    case 'prune':
      await prune(registry);
      return;
    case 'rm':
      if (await installed('one')) await removeModel(registry, 'one');
      return;
    case 'rm-other':
      if (await installed('two')) await removeModel(registry, 'two');
      return;
    case 'rm-pulled':
      if (await installed(PULLED_ID)) await removeModel(registry, PULLED_ID);
  }
}
