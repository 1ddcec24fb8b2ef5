/** Number of layers on devices other than the CPU when not all of them fit. Pure: from figures to a number. */

/** Memory of a load on the devices with this number of layers there. llama.cpp puts the last layers there first. */
export interface LayerNeeds {
  /** Only the output layer, which moves first. */
  readonly oneBytes: number;
  readonly twoBytes: number;
}

/** Layers are alike except the output layer, so two figures give the size of each further one. 0: none fits. */
export function layersThatFit({ oneBytes, twoBytes }: LayerNeeds, room: number): number {
  if (oneBytes > room) return 0;
  const layerBytes = Math.max(1, twoBytes - oneBytes);
  return 1 + Math.floor((room - oneBytes) / layerBytes);
}
