/** The verbs' access to the hub: its address, the token, and whether they may use it. */
import { hubOptions as apiHubOptions } from '../../../api/hub-options.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import type { CliContext } from '../../context.ts';

/** A sealed home fetches nothing. */
export function refuseIfSealed(context: CliContext): void {
  if (context.config().sealed) throw fail('sealed');
}

/** A token file given by a flag comes first. */
export function hubOptions(context: CliContext, tokenFile?: string): ReturnType<typeof apiHubOptions> {
  const { hubHosts, sealed } = context.config();
  return apiHubOptions({ env: context.env, hubHosts, sealed, tokenFile });
}
