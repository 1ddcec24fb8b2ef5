/** npm's registry, or another host of pinned files, as the user's settings of npm and its proxies lead there. */
import { homedir } from 'node:os';
import type { PackageSource } from '../store/libraries/download.ts';
import type { CliContext } from './context.ts';

type Watched = Pick<PackageSource, 'onEvent'> & Required<Pick<PackageSource, 'signal'>>;

/** `host`: in place of the registry; it gets no token. */
export async function packageSource(
  context: CliContext,
  watched: Watched,
  host?: string,
): Promise<PackageSource> {
  // Loaded on demand, like the hub for `pull`.
  const { openAccess } = await import('../store/hub/access.ts');
  const { USUAL_RETRIES } = await import('../store/hub/retry.ts');
  const { throughProxies } = await import('../store/libraries/proxy-tunnel.ts');
  const { readRegistry } = await import('../store/libraries/registry.ts');
  const settings = await readRegistry({ env: context.env, userHome: homedir() });
  const registry = host ?? settings.url;
  const token = host === undefined ? settings.token : null;
  const direct = openAccess({ endpoint: registry, token, trustedHosts: context.config().hubHosts });
  const access = { ...direct, connect: throughProxies(settings, direct.stallMs) };
  return { access, registry, retries: USUAL_RETRIES, ...watched };
}
