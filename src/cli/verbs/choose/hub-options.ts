/** How verbs reach the hub: its address, the token, and whether they may at all. */
import { homedir } from 'node:os';
import type { LookOptions } from '../../../store/hub/choose/search.ts';
import { findToken, isSet } from '../../../store/hub/token.ts';
import type { CliContext } from '../../context.ts';

/** From the variables of the hub's own tools; a token file given by a flag comes first. */
export async function hubOptions(
  context: CliContext,
  tokenFile?: string,
): Promise<Omit<LookOptions, 'signal'> & { readonly offline: boolean }> {
  const { env } = context;
  const given = tokenFile === undefined ? {} : { tokenFile };
  const token = await findToken({ env, userHome: homedir(), ...given });
  const endpoint = env['MODEL_ENDPOINT']?.trim() || env['HF_ENDPOINT']?.trim();
  return {
    ...(endpoint ? { endpoint } : {}),
    token,
    trustedHosts: context.config().hubHosts,
    offline: isSet(env['HF_HUB_OFFLINE']),
  };
}
