import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import koffi from 'koffi';
import type { GpuSupport } from '../../contract/load.ts';
import { ALLOWS_SOFTWARE } from './devices.ts';
import {
  CUDA_VERSIONS,
  findLibraries,
  type LibraryFiles,
  type PackageKind,
} from '../../lib/files/native-library.ts';

type GpuKind = Exclude<PackageKind, 'cpu'>;

interface Need {
  readonly what: string;
  readonly libraries?: readonly string[];
  readonly devices?: readonly string[];
  readonly onlyFor?: string;
}

const NVIDIA = 'nvidiactl';
const RENDERER = 'dri/renderD';

/** GPU packages that `auto` tries, in this order. */
export const GPU_PACKAGES: readonly GpuKind[] = ['metal', 'cuda', 'vulkan'];

const NEEDS: Readonly<
  Record<'cuda' | 'vulkan', Readonly<Partial<Record<NodeJS.Platform, readonly Need[]>>>>
> = {
  cuda: {
    linux: [
      { what: 'an NVIDIA GPU (/dev/nvidiactl)', devices: [NVIDIA] },
      { what: "NVIDIA's driver (libcuda.so.1)", libraries: ['libcuda.so.1'] },
    ],
    win32: [{ what: "NVIDIA's driver (nvcuda.dll)", libraries: ['nvcuda.dll'] }],
  },
  vulkan: {
    linux: [
      { what: 'a GPU (/dev/dri/renderD* or /dev/nvidiactl)', devices: [RENDERER, NVIDIA] },
      { what: "Vulkan's loader (libvulkan.so.1)", libraries: ['libvulkan.so.1'] },
      {
        what: "NVIDIA's Vulkan driver (libGLX_nvidia.so.0, which needs libX11.so.6 and libXext.so.6)",
        libraries: ['libGLX_nvidia.so.0'],
        onlyFor: NVIDIA,
      },
    ],
    win32: [{ what: "Vulkan's loader (vulkan-1.dll)", libraries: ['vulkan-1.dll'] }],
  },
};

export function gpuSupport(libraries: string | null): GpuSupport[] {
  return (['cuda', 'vulkan'] as const).flatMap((kind) => {
    const needs = NEEDS[kind][process.platform];
    if (needs === undefined || process.arch !== 'x64') return [];
    const missing = needs.filter((need) => !isMet(need)).map(({ what }) => what);
    const files = findLibraries(kind, libraries);
    const runtime = kind === 'cuda' && missing.length === 0 && !hasRuntime(files) ? driverVersion() : null;
    return [{ kind, missing, installed: files !== null, ...(runtime !== null && { runtime }) }];
  });
}

export function isLoadable(kind: PackageKind, files: LibraryFiles): boolean {
  if (kind !== 'cuda' && kind !== 'vulkan') return true;
  const system = (NEEDS[kind][process.platform] ?? []).filter((need) => need.libraries?.length === 1);
  return system.every(isMet) && (kind !== 'cuda' || hasRuntime(files));
}

function hasRuntime(files: LibraryFiles | null): boolean {
  if (process.platform !== 'linux') return true;
  const newest = driverVersion() ?? 0;
  return Object.entries(CUDA_VERSIONS).some(([version, folder]) => {
    if (Number(version) > newest) return false;
    const isThere = (name: string): boolean =>
      (files !== null && existsSync(join(files.folder, folder, name))) || canLoad(name);
    return [`libcudart.so.${version}`, `libcublas.so.${version}`].every(isThere);
  });
}

function driverVersion(): number | null {
  const found: [number] = [0];
  try {
    const driver = koffi.load('libcuda.so.1');
    if (driver.func('int cuDriverGetVersion(_Out_ int *version)')(found) !== 0) return null;
    const newest = Math.trunc(found[0] / 1000);
    return (
      Object.keys(CUDA_VERSIONS)
        .map(Number)
        .findLast((version) => version <= newest) ?? null
    );
  } catch {
    return null;
  }
}

function isMet({ libraries, devices, onlyFor }: Need): boolean {
  if (onlyFor !== undefined && !hasDevice(onlyFor)) return true;
  return devices?.some(hasDevice) ?? libraries?.some(canLoad) ?? true;
}

function canLoad(name: string): boolean {
  try {
    koffi.load(name);
    return true;
  } catch {
    return false;
  }
}

/** Names below /dev; under WSL every GPU is one device. */
function hasDevice(prefix: string): boolean {
  if (existsSync('/dev/dxg') || (ALLOWS_SOFTWARE && prefix === RENDERER)) return true;
  const [name = '', folder = ''] = prefix.split('/').reverse();
  const path = `/dev/${folder}`;
  return existsSync(path) && readdirSync(path).some((entry) => entry.startsWith(name));
}
