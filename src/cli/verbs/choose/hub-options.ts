import { hubOptions as apiHubOptions } from '../../../server/api/hub-options.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import type { CliContext } from '../../context.ts';

export function refuseIfSealed(context: CliContext): void {
  if (context.config().sealed) throw fail('sealed');
}

export function hubOptions(context: CliContext, tokenFile?: string): ReturnType<typeof apiHubOptions> {
  const { hubHosts, sealed } = context.config();
  return apiHubOptions({ env: context.env, hubHosts, sealed, tokenFile });
}
