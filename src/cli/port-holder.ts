/** Says who holds a taken port: this very instance, another Hearth, or something else. */
import { loadIdentity } from '../identity/instance.ts';
import type { Config } from '../config/config.ts';
import { baseUrl } from './api.ts';

export async function describeHolder(config: Config): Promise<string> {
  const where = `${config.host}:${config.port}`;
  const remedy = 'choose another with --port or SVC_PORT';
  const holder = await askIdentity(`${baseUrl(config)}/v1/identity`, config.apiKey);
  if (holder === null) return `${where} is taken by another program; ${remedy}.`;
  const { instanceId } = await loadIdentity({ home: config.home });
  if (holder.instance_id === instanceId) {
    return `this instance is already being served at ${where} (version ${holder.version}); hearth status tells more.`;
  }
  return `${where} is taken by another Hearth (instance ${holder.instance_id}); ${remedy}.`;
}

async function askIdentity(
  url: string,
  apiKey: string | null,
): Promise<{ instance_id: string; version: string } | null> {
  try {
    const headers = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
    const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(1000) });
    const body = (await response.json()) as { object?: unknown; instance_id?: unknown; version?: unknown };
    if (body.object !== 'svc.identity') return null;
    return { instance_id: String(body.instance_id), version: String(body.version) };
  } catch {
    // Whatever does not answer as Hearth does is "another program"; the reason does not matter to the user.
    return null;
  }
}
