import { modelFiles } from '../store/registry/manifest.ts';
import type { InstalledModel } from '../store/registry/registry.ts';
import { digestOf } from '../store/registry/target.ts';

/** SHA-256 of the weights, lower-case hex, when it is known. */
export function modelDigest(model: InstalledModel): string | null {
  const [first] = modelFiles(model);
  return first ? digestOf(first) : null;
}

/** What stands for the weights in derived names: their digest, else id and size. */
export function weightsName(model: InstalledModel): string {
  return modelDigest(model) ?? `${model.id} ${model.facts.sizeBytes}`;
}
