import { availableParallelism } from 'node:os';
import type { ModelFormatFacts } from '../../../contract/job-event.ts';
import { holdsText } from '../../../contract/settings/shapes.ts';
import { fail, isFailure } from '../../../lib/errors/svc-error.ts';
import { type ParamsPatch, setParams } from '../../../store/install/changes.ts';
import type { InstalledModel, Registry } from '../../../store/registry/registry.ts';

type AskFormat = (next: InstalledModel) => Promise<ModelFormatFacts | null>;

/** `doubts`: warnings about usable values that may be a mistake. Throws like setParams. */
export async function setTried(
  registry: Registry,
  name: string,
  patch: ParamsPatch,
  askFormat: AskFormat,
): Promise<{ readonly model: InstalledModel; readonly doubts: readonly string[] }> {
  const isTried = holdsText(patch);
  const doubts = threadDoubts(patch);
  const model = await setParams(registry, name, patch, async (next) => {
    if (!isTried || next.kind !== 'chat') return;
    const { evidence = [] } = (await askFormat(next).catch(refuse)) ?? {};
    doubts.push(...evidence.filter(({ about }) => about === 'template').map(({ says }) => says));
  });
  return { model, doubts };
}

function threadDoubts({ threads }: ParamsPatch): string[] {
  const most = availableParallelism();
  if (typeof threads !== 'number' || threads <= most) return [];
  return [`This machine runs ${most} threads at a time; more than that make the model slower.`];
}

/** load_setting_unusable would ask the user for the change that was just tried. */
function refuse(error: unknown): never {
  if (!isFailure(error, 'load_setting_unusable')) throw error;
  const { setting, reason } = error.detail;
  throw fail('invalid_request', { param: setting, message: `${setting} stays as it was: ${reason}.` }, error);
}
