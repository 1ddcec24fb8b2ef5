/** Which GPU kinds this machine has what it takes for, by its devices and by the system's own libraries. */
import { existsSync, readdirSync } from 'node:fs';
import koffi from 'koffi';
import type { GpuSupport } from '../../contract/load.ts';
import { ALLOWS_SOFTWARE } from './devices.ts';
import { findLibraries, type PackageKind } from '../../lib/files/native-library.ts';

type GpuKind = Exclude<PackageKind, 'cpu'>;

interface Need {
  /** For people. */
  readonly what: string;
  /** Any of these fulfils it. */
  readonly libraries?: readonly string[];
  /** For what is no library: any of these devices. */
  readonly devices?: readonly string[];
  /** Needed only where this device is. */
  readonly onlyFor?: string;
}

const NVIDIA = 'nvidiactl';
const RENDERER = 'dri/renderD';

/** The GPU packages that are tried without being named, in this order. */
export const GPU_PACKAGES: readonly GpuKind[] = ['metal', 'cuda', 'vulkan'];

const NEEDS: Readonly<
  Record<'cuda' | 'vulkan', Readonly<Partial<Record<NodeJS.Platform, readonly Need[]>>>>
> = {
  cuda: {
    linux: [
      { what: 'an NVIDIA GPU (/dev/nvidiactl)', devices: [NVIDIA] },
      { what: "NVIDIA's driver (libcuda.so.1)", libraries: ['libcuda.so.1'] },
      {
        what: "CUDA's runtime (libcudart.so.13 or libcudart.so.12)",
        libraries: ['libcudart.so.13', 'libcudart.so.12'],
      },
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

/** Of the kinds that this platform has packages for. */
export function gpuSupport(libraries: string | null): GpuSupport[] {
  return (['cuda', 'vulkan'] as const).flatMap((kind) => {
    const needs = NEEDS[kind][process.platform];
    if (needs === undefined || process.arch !== 'x64') return [];
    const missing = needs.filter((need) => !isMet(need)).map(({ what }) => what);
    return [{ kind, missing, installed: findLibraries(kind, libraries) !== null }];
  });
}

/** Whether the system has the libraries without which a package of this kind cannot even be loaded. */
export function isLoadable(kind: PackageKind): boolean {
  if (kind !== 'cuda' && kind !== 'vulkan') return true;
  const system = (NEEDS[kind][process.platform] ?? []).filter((need) => need.libraries?.length === 1);
  return system.every(isMet);
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

/** Below /dev; under WSL every GPU is one device. */
function hasDevice(prefix: string): boolean {
  if (existsSync('/dev/dxg') || (ALLOWS_SOFTWARE && prefix === RENDERER)) return true;
  const [name = '', folder = ''] = prefix.split('/').reverse();
  const path = `/dev/${folder}`;
  return existsSync(path) && readdirSync(path).some((entry) => entry.startsWith(name));
}
