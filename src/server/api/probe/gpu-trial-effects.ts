import { stat } from 'node:fs/promises';
import { installedPackage } from '../../../lib/files/native-library.ts';
import { platformKey } from '../../../lib/files/platforms.ts';
import {
  adoptTrial,
  dropTrial,
  fetchForTrial,
  readGpuTrial,
  trialFolder,
  writeGpuTrial,
} from '../../../store/libraries/gpu-trial.ts';
import { isSet } from '../../../store/hub/token.ts';
import { libraryFor } from '../../../store/libraries/install.ts';
import { GPU_LIBRARIES } from '../../../store/libraries/packages.ts';
import { openPackageSource, type PackagePlaces } from '../../../store/libraries/package-source.ts';
import { askDevices } from '../own-worker.ts';
import { compareLibraries, FEW_ROUNDS } from './compare-libraries.ts';
import type { GpuTrialPorts } from './gpu-trial.ts';

const KIND = 'vulkan';

export interface TrialPlaces extends PackagePlaces {
  readonly libraries: string;
}

type Effects = Pick<
  GpuTrialPorts,
  | 'isOffline'
  | 'fileBytes'
  | 'read'
  | 'write'
  | 'hasPackage'
  | 'isFetched'
  | 'fetch'
  | 'devices'
  | 'compare'
  | 'adopt'
  | 'drop'
>;

export function gpuTrialEffects(places: TrialPlaces): Effects {
  const { libraries, env } = places;
  const library = () => libraryFor(KIND, platformKey());
  const tried = { env, gpu: KIND, libraries: trialFolder(libraries) };
  return {
    isOffline: () => isSet(env['HF_HUB_OFFLINE']),
    fileBytes: async (file) => (await stat(file)).size,
    read: () => readGpuTrial(libraries),
    write: (trial) => writeGpuTrial(libraries, trial),
    hasPackage: () => `${platformKey()}-${KIND}` in GPU_LIBRARIES,
    isFetched: async () => {
      const target = installedPackage(trialFolder(libraries), library().main.name);
      return stat(target).then(
        () => true,
        () => false,
      );
    },
    fetch: async () => {
      const source = await openPackageSource(places, { onEvent: () => {} });
      await fetchForTrial({ folder: libraries, library: library(), ...source });
    },
    devices: () => askDevices(tried),
    compare: (model) => compareLibraries(tried, { env, gpu: 'off', libraries }, model, FEW_ROUNDS),
    adopt: () => adoptTrial(libraries, library().main.name),
    drop: () => dropTrial(libraries),
  };
}
