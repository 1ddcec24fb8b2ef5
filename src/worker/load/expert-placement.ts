/**
 * Experts of a mixture that stay in the memory of the CPU: they are most of such a model, and each token uses few of
 * them, so they lose the least there. Pure.
 */
import type { ExpertFacts } from '../../contract/load.ts';
import type { LoadSettings } from '../../contract/settings/shapes.ts';
import type { TensorBuffer } from '../native.ts';

interface DeviceRoom {
  readonly needBytes: number | null;
  readonly usableBytes: number;
}

/** Names of expert tensors after the layer; `ch` marks the grouped experts of some architectures. */
const EXPERTS = String.raw`\.ffn_(gate|up|down|gate_up)_(ch)?exps\.`;

/** Layers whose experts stay on the CPU, counted from the first. `room` is null if only the CPU is used. */
export function layersOnCpu(
  setting: LoadSettings['cpuMoe'],
  experts: ExpertFacts | null,
  room: DeviceRoom | null,
): number | 'all' {
  if (room === null || setting === 'off') return 0;
  if (setting !== undefined && setting !== 'auto') return setting;
  if (experts === null || room.needBytes === null) return 0;
  let needBytes = room.needBytes;
  for (const [layer, bytes] of experts.layerBytes.entries()) {
    if (needBytes <= room.usableBytes) return layer;
    needBytes -= bytes;
  }
  return 'all';
}

export function expertBuffers(layers: number | 'all'): TensorBuffer[] {
  if (layers === 'all') return [{ pattern: EXPERTS, buffer: 'CPU' }];
  return Array.from({ length: layers }, (_, layer) => ({
    pattern: String.raw`^blk\.${layer}${EXPERTS}`,
    buffer: 'CPU',
  }));
}
