import { homedir } from 'node:os';
import type { PackageSource } from '../store/libraries/download.ts';
import type { Watched } from '../store/libraries/package-source.ts';
import type { CliContext } from './context.ts';

export async function packageSource(
  context: CliContext,
  watched: Watched,
  host?: string,
): Promise<PackageSource> {
  const { openPackageSource } = await import('../store/libraries/package-source.ts');
  const { hubHosts } = context.config();
  return openPackageSource({ env: context.env, userHome: homedir(), hubHosts, host }, watched);
}
