import { join } from 'node:path';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { agreementOfFolder, toolsFolder } from '../../../store/libraries/build/build.ts';
import type { BuildGpu } from '../../../store/libraries/build/options.ts';
import { type CompilerChoice, findToolchain, type Found } from '../../../store/libraries/build/toolchain.ts';
import type { Agreement } from '../../../store/libraries/own.ts';
import type { CliContext } from '../../context.ts';

/** Contains all files of builds; may be deleted at any time. */
export const workFolder = (context: CliContext): string => join(context.config().home, 'build');

export async function findTools(context: CliContext, choice: CompilerChoice, gpu: BuildGpu): Promise<Found> {
  const search = {
    gpu,
    env: context.env,
    platform: process.platform,
    arch: process.arch,
    tools: toolsFolder(workFolder(context)),
  };
  if (choice !== 'auto') return findToolchain({ ...search, choice });
  try {
    return await findToolchain({ ...search, choice: 'system' });
  } catch (error) {
    if (!isSvcError(error)) throw error;
    const zig = await findToolchain({ ...search, choice: 'zig' }).catch(() => null);
    if (zig === null || zig.missing.length > 0) throw error;
    return zig;
  }
}

export async function compareFolder(
  context: CliContext,
  folder: string,
  signal: AbortSignal,
): Promise<Agreement> {
  const found = await findTools(context, 'auto', 'none').catch(() => null);
  return agreementOfFolder(folder, {
    toolchain: found?.toolchain ?? null,
    work: workFolder(context),
    signal,
    env: context.env,
  });
}
