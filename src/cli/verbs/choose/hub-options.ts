/** How verbs reach the hub: its address, the token, and whether they may at all. */
import { hubOptions as optionsOf } from '../../../api/library/hub-options.ts';
import type { CliContext } from '../../context.ts';

/** A token file given by a flag comes first. */
export function hubOptions(context: CliContext, tokenFile?: string): ReturnType<typeof optionsOf> {
  return optionsOf({ env: context.env, hubHosts: context.config().hubHosts, tokenFile });
}
