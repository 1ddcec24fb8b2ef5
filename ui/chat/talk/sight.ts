/** Which models can be shown images, and what to say where one cannot. Pure. */
import type { ModelEntry } from '../../../src/wire/models.ts';
import { isLocal } from '../../service/known.ts';

/** Most upstreams do not say what they take, so they are asked. */
export const readsImages = (model: ModelEntry): boolean =>
  !isLocal(model) || (model.capabilities ?? []).includes('vision');

/** What its user can type to have a model that does. */
const SOME_MODEL = 'hearth pull ggml-org/gemma-3-4b-it-GGUF';

/** Null: all of them read images, as far as is known. */
export function sightFault(models: readonly (ModelEntry | undefined)[]): string | null {
  const blind = models.find((model) => model !== undefined && !readsImages(model));
  if (blind === undefined) return null;
  return `${blind.id} does not read images. Choose another model, remove the image, or install a model with its projector, for example: ${SOME_MODEL}`;
}
