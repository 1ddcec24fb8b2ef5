import { copyFile, truncate } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temp-home.ts';
import { packageFolder } from '../base/package-folder.ts';
import { inspectGguf, readTensorShapes } from './inspect.ts';
import { runGate } from './run-gate.ts';

/** A few mebibytes, as every builtin model. */
const model = path.join(packageFolder, 'models', 'hearth-mini', 'model.gguf');

describe('the gate in its thread', () => {
  it('says of a large file what the gate says', async () => {
    expect(await runGate('inspectGguf', model)).toEqual(await inspectGguf(model));
    expect(await runGate('readTensorShapes', model)).toEqual(await readTensorShapes(model));
  });

  it('refuses what the gate refuses, in the same words', async () => {
    const cut = path.join(await temporaryFolder(), 'cut.gguf');
    await copyFile(model, cut);
    await truncate(cut, 2_000_000);
    const reason = await inspectGguf(cut).catch((error: unknown) => error);
    expect(reason).toMatchObject({ code: 'gguf_invalid' });
    await expect(runGate('inspectGguf', cut)).rejects.toMatchObject({
      ...(reason as object),
      message: String((reason as Error).message),
    });
  });

  it('says that there is no file', async () => {
    await expect(runGate('inspectGguf', path.join(packageFolder, 'absent'))).rejects.toMatchObject({
      code: 'file_not_found',
    });
  });
});
