/** How many layers of a model go to devices beside the CPU when not all of them fit. Pure: from figures to a number. */

/** A device that is filled to the last byte has none for what else it shows or computes. */
const FILLED_AT_MOST = 0.95;

/** What a load takes of the devices with so many of its layers there. llama.cpp puts the last layers there first. */
export interface LayerNeeds {
  /** The output layer only, which is the first to go. */
  readonly oneBytes: number;
  readonly twoBytes: number;
}

/** Layers are alike but for the output layer, so two figures tell what each further one takes. 0: none fits. */
export function layersThatFit({ oneBytes, twoBytes }: LayerNeeds, freeBytes: number): number {
  const room = freeBytes * FILLED_AT_MOST;
  if (oneBytes > room) return 0;
  const layerBytes = Math.max(1, twoBytes - oneBytes);
  return 1 + Math.floor((room - oneBytes) / layerBytes);
}

export function allFit(needBytes: number, freeBytes: number): boolean {
  return needBytes <= freeBytes * FILLED_AT_MOST;
}
