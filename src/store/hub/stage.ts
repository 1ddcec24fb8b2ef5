/** Shows fetched files to the gate and the probe under the names that native code expects. */
import { link, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryName, writeFailure } from '../../lib/files/durable.ts';
import { type Inspect, type Inspection, type Probe } from '../install/inspection.ts';
import type { OnInstallEvent } from '../install/install-event.ts';

export interface StagedModel {
  readonly files: readonly { readonly path: string; readonly name: string }[];
  readonly shown: string;
  readonly inspect: Inspect;
  readonly probe: Probe | undefined;
  readonly onEvent: OnInstallEvent;
}

export async function inspectStaged(partial: string, model: StagedModel): Promise<Inspection> {
  const stage = join(partial, temporaryName('stage'));
  try {
    await mkdir(stage, { mode: 0o700 });
    for (const file of model.files) {
      await link(file.path, join(stage, file.name)).catch((error: unknown) => {
        throw writeFailure(stage, error);
      });
    }
    return await inspectFiles(
      model.files.map((file) => join(stage, file.name)),
      model,
    );
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function inspectFiles(
  paths: readonly string[],
  { shown, inspect, probe, onEvent }: StagedModel,
): Promise<Inspection> {
  onEvent({ status: 'inspecting', file: shown });
  const inspection = await inspect(paths);
  // An adapter cannot be loaded without its model.
  if (probe && inspection.kind !== 'adapter') {
    onEvent({ status: 'probing', file: shown });
    await probe({ path: paths[0] ?? '', shown, kind: inspection.kind, facts: inspection.facts });
  }
  return inspection;
}
