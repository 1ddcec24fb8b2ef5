import type { Config } from '../config/config.ts';
import { readPublicIdentity } from '../trust/identity/public-identity.ts';
import { HEADERS } from '../wire/headers.ts';
import { askHealth } from './open-request.ts';

const PATIENCE_MS = 1000;

export async function describeHolder(config: Config, flag = '--port'): Promise<string> {
  const where = `${config.host}:${config.port}`;
  const remedy = `choose another with ${flag} or SVC_PORT`;
  const instanceId = await askInstance(config);
  if (instanceId === null) return `${where} is taken by another program; ${remedy}.`;
  const own = await readPublicIdentity(config.home);
  if (instanceId === own.instanceId)
    return `this instance is already running at ${where}; see hearth status.`;

  return `${where} is taken by another Hearth (instance ${instanceId}); ${remedy}.`;
}

export async function isOwnHolder(config: Config): Promise<boolean> {
  const instanceId = await askInstance(config);
  return instanceId !== null && instanceId === (await readPublicIdentity(config.home)).instanceId;
}

async function askInstance(config: Config): Promise<string | null> {
  const headers = await askHealth({ ...config, socket: null }, PATIENCE_MS);
  return headers?.get(HEADERS.instanceId) ?? null;
}
