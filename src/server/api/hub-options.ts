/** The hub's address and token, from the environment variables of its own tools. */
import { homedir } from 'node:os';
import { fail } from '../../lib/errors/svc-error.ts';
import type { LookOptions } from '../../store/hub/choose/search.ts';
import { findToken, isSet } from '../../store/hub/token.ts';

export interface HubEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Private hosts that a hub may redirect to. */
  readonly hubHosts: readonly string[];
  readonly sealed: boolean;
  readonly tokenFile?: string | undefined;
}

export async function hubOptions({
  env,
  hubHosts,
  sealed,
  tokenFile,
}: HubEnvironment): Promise<Omit<LookOptions, 'signal'> & { readonly offline: boolean }> {
  if (sealed) throw fail('sealed');
  const given = tokenFile === undefined ? {} : { tokenFile };
  const token = await findToken({ env, userHome: homedir(), ...given });
  const endpoint = env['MODEL_ENDPOINT']?.trim() || env['HF_ENDPOINT']?.trim();
  return {
    ...(endpoint ? { endpoint } : {}),
    token,
    trustedHosts: hubHosts,
    offline: isSet(env['HF_HUB_OFFLINE']),
  };
}
