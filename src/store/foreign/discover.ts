/** What other programs have on this machine already, ready to be adopted where it lies. */
import type { ForeignEnvironment, ForeignScan } from './foreign-store.ts';
import { scanHfCache } from './hf-cache.ts';
import { scanJan } from './jan.ts';
import { scanLlamaCpp } from './llama-cpp.ts';
import { scanLmStudio } from './lmstudio.ts';
import { scanOllama } from './ollama.ts';

const scanners = {
  ollama: scanOllama,
  lmstudio: scanLmStudio,
  hf: scanHfCache,
  'llama.cpp': scanLlamaCpp,
  jan: scanJan,
} as const;

export type ForeignStoreName = keyof typeof scanners;
export const foreignStoreNames = Object.keys(scanners) as readonly ForeignStoreName[];

export async function scanForeignStore(
  name: ForeignStoreName,
  environment: ForeignEnvironment,
): Promise<ForeignScan> {
  return scanners[name](environment);
}

/** Every store that is known, one after the other; a broken one is reported in its own scan. */
export async function discover(environment: ForeignEnvironment): Promise<readonly ForeignScan[]> {
  const scans: ForeignScan[] = [];
  for (const name of foreignStoreNames) scans.push(await scanForeignStore(name, environment));
  return scans;
}
