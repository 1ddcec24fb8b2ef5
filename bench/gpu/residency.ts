/** What the service says of a loaded model, beside what the card says. */
import type { ResidencyList } from '../../src/wire/residency.ts';
import type { Bench, BenchModel } from './bench.ts';
import type { Cells } from './report.ts';

const MIB = 2 ** 20;

export type Resident = ResidencyList['data'][number];

export async function residency({ hearth }: Bench, { id }: BenchModel): Promise<Resident> {
  const { data } = (await hearth.json('ps')) as ResidencyList;
  const found = data.find((each) => each.id === id);
  if (found === undefined) throw new Error(`${id} is not loaded`);
  return found;
}

/** Planned and measured by device, in MiB. */
export function memoryCells({ memory }: Resident): Cells {
  const cells = memory.flatMap(({ device, planned_bytes, measured_bytes }) => [
    [`${device} planned MiB`, planned_bytes / MIB] as const,
    [`${device} measured MiB`, measured_bytes === null ? null : measured_bytes / MIB] as const,
  ]);
  return Object.fromEntries(cells);
}
