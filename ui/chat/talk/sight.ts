import type { ModelEntry } from '../../../src/wire/models.ts';
import { isLocal } from '../../service/known.ts';

/** Most upstreams do not list abilities, so images are sent to them. */
export const readsImages = (model: ModelEntry): boolean =>
  !isLocal(model) || (model.capabilities ?? []).includes('vision');

const SOME_MODEL = 'hearth pull ggml-org/gemma-3-4b-it-GGUF';

export function sightFault(models: readonly (ModelEntry | undefined)[]): string | null {
  const blind = models.find((model) => model !== undefined && !readsImages(model));
  if (blind === undefined) return null;
  return `${blind.id} does not read images. Choose another model, remove the image, or install a model with its projector, for example: ${SOME_MODEL}`;
}
