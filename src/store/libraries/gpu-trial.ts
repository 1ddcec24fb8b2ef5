/**
 * Result of the trial of a GPU library that the service fetched. It is stored with the libraries, so that the trial
 * runs once.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { moveDurably } from '../../lib/files/durable.ts';
import { installedPackage, PACKAGE_VERSION } from '../../lib/files/native-library.ts';
import { readRecord, writeRecord } from '../../lib/files/record-file.ts';
import { type LibraryInstall, installLibrary, lockFolder, removeWhole } from './install.ts';

const Times = Type.Object({ model: Type.String(), gpuMs: Type.Number(), cpuMs: Type.Number() });

export const GpuTrial = Type.Object({
  kind: Type.Literal('vulkan'),
  /** Package version; a new version is tried again. */
  version: Type.String(),
  /** `removed`: the user removed it, so it is not fetched again. */
  outcome: Type.Union([
    Type.Literal('faster'),
    Type.Literal('slower'),
    Type.Literal('no-gpu'),
    Type.Literal('failed'),
    Type.Literal('removed'),
  ]),
  device: Type.Optional(Type.String({ maxLength: 256 })),
  reason: Type.Optional(Type.String({ maxLength: 1024 })),
  times: Type.Optional(Times),
  /** ISO 8601. */
  at: Type.String(),
});
export type GpuTrial = Static<typeof GpuTrial>;
export type TrialResult = Omit<GpuTrial, 'kind' | 'version'>;

const recordFile = (libraries: string): string => join(libraries, 'gpu-trial.json');

/** A package that is not in use yet; no worker of the service looks here. */
export const trialFolder = (libraries: string): string => join(libraries, 'trial');

export async function readGpuTrial(libraries: string): Promise<GpuTrial | null> {
  const stored = await readRecord(recordFile(libraries), GpuTrial);
  return stored?.version === PACKAGE_VERSION ? stored : null;
}

export async function writeGpuTrial(libraries: string, trial: TrialResult): Promise<void> {
  const record: GpuTrial = { kind: 'vulkan', version: PACKAGE_VERSION, ...trial };
  await writeRecord(recordFile(libraries), record);
}

export const forgetGpuTrial = (libraries: string): Promise<void> =>
  rm(recordFile(libraries), { force: true });

export async function fetchForTrial(install: LibraryInstall): Promise<void> {
  await installLibrary({ ...install, folder: trialFolder(install.folder) });
}

/** Workers that start from now on use it. */
export async function adoptTrial(libraries: string, name: string): Promise<void> {
  const lock = await lockFolder(libraries, 'using a GPU');
  try {
    await moveDurably(installedPackage(trialFolder(libraries), name), installedPackage(libraries, name));
    await dropTrial(libraries);
  } finally {
    await lock.release();
  }
}

export async function dropTrial(libraries: string): Promise<void> {
  await removeWhole(trialFolder(libraries));
}

export function describeTrial({ outcome, device = 'the GPU', reason, times, at }: TrialResult): string {
  const day = at.slice(0, 10);
  const measured =
    times === undefined
      ? ''
      : `a prompt and 32 tokens of ${times.model} took ${times.gpuMs} ms on ${device} and ${times.cpuMs} ms on the processor`;
  switch (outcome) {
    case 'faster':
      return `Vulkan was tried on ${day}: ${measured}, so the GPU is used. To undo it: hearth gpu remove vulkan`;
    case 'slower':
      return `Vulkan was tried on ${day}: ${measured}, so the processor stays in use. To use the GPU all the same: hearth gpu install vulkan`;
    case 'no-gpu':
      return `Vulkan was tried on ${day} and finds no GPU here${reason === undefined ? '' : ` (${reason})`}, so the processor stays in use.`;
    case 'failed':
      return `Vulkan was tried on ${day} and failed: ${reason ?? 'no reason was given'}; the processor stays in use. To use the GPU all the same: hearth gpu install vulkan`;
    case 'removed':
      return `Vulkan was removed on ${day} and is not fetched again by itself. To use it: hearth gpu install vulkan`;
  }
}
