/** How many layers of a model go to devices beside the CPU when not all of them fit. Pure: from figures to a number. */

/** What a load takes of the devices with so many of its layers there. llama.cpp puts the last layers there first. */
export interface LayerNeeds {
  /** The output layer only, which is the first to go. */
  readonly oneBytes: number;
  readonly twoBytes: number;
}

/** Layers are alike but for the output layer, so two figures tell what each further one takes. 0: none fits. */
export function layersThatFit({ oneBytes, twoBytes }: LayerNeeds, room: number): number {
  if (oneBytes > room) return 0;
  const layerBytes = Math.max(1, twoBytes - oneBytes);
  return 1 + Math.floor((room - oneBytes) / layerBytes);
}
