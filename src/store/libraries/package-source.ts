/** npm's registry, or another host of pinned files, as the user's settings of npm and its proxies lead there. */
import { openAccess } from '../hub/access.ts';
import { USUAL_RETRIES } from '../hub/retry.ts';
import type { PackageSource } from './download.ts';
import { throughProxies } from './proxy-tunnel.ts';
import { readRegistry, type RegistrySources } from './registry.ts';

export type Watched = Pick<PackageSource, 'onEvent' | 'signal'>;

export interface PackagePlaces extends RegistrySources {
  /** Private hosts that a registry may redirect to. */
  readonly hubHosts: readonly string[];
  /** In place of the registry; it gets no token. */
  readonly host?: string | undefined;
}

export async function openPackageSource(places: PackagePlaces, watched: Watched): Promise<PackageSource> {
  const { hubHosts, host } = places;
  const settings = await readRegistry(places);
  const registry = host ?? settings.url;
  const token = host === undefined ? settings.token : null;
  const direct = openAccess({ endpoint: registry, token, trustedHosts: hubHosts });
  const access = { ...direct, connect: throughProxies(settings, direct.stallMs) };
  return { access, registry, retries: USUAL_RETRIES, ...watched };
}
