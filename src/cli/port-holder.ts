/** Says who holds a taken port: this very instance, another Hearth, or something else. */
import { Check } from '#typebox/value';
import type { Config } from '../config/config.ts';
import { readPublicIdentity } from '../trust/identity/public-identity.ts';
import { HEADERS } from '../wire/headers.ts';
import { HealthResponse } from '../wire/health.ts';
import { routes } from '../wire/routes.ts';
import { baseUrl } from './api.ts';

export async function describeHolder(config: Config): Promise<string> {
  const where = `${config.host}:${config.port}`;
  const remedy = 'choose another with --port or SVC_PORT';
  const instanceId = await askInstance(`${baseUrl(config)}${routes.health.path}`);
  if (instanceId === null) return `${where} is taken by another program; ${remedy}.`;
  const own = await readPublicIdentity(config.home);
  if (instanceId === own.instanceId)
    return `this instance is already running at ${where}; see hearth status.`;

  return `${where} is taken by another Hearth (instance ${instanceId}); ${remedy}.`;
}

/** Asks a route that needs no API key: the port may belong to any program, which must not learn it. */
async function askInstance(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(1000) });
    const body: unknown = await response.json();
    return Check(HealthResponse, body) && body.product === 'hearth'
      ? response.headers.get(HEADERS.instanceId)
      : null;
  } catch {
    // Whatever does not answer as Hearth does is "another program"; the reason does not matter to the user.
    return null;
  }
}
