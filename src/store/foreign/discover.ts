import { FOREIGN_STORES, type ForeignStoreName } from '../files/manifest.ts';
import type { ForeignEnvironment, ForeignScan } from './foreign-store.ts';
import { scanHfCache } from './hf-cache.ts';
import { scanJan } from './jan.ts';
import { scanLlamaCpp } from './llama-cpp.ts';
import { scanLmStudio } from './lmstudio.ts';
import { scanOllama } from './ollama.ts';

type Scanner = (environment: ForeignEnvironment) => Promise<ForeignScan>;

const SCANNERS: Readonly<Record<ForeignStoreName, Scanner>> = {
  ollama: scanOllama,
  lmstudio: scanLmStudio,
  hf: scanHfCache,
  'llama.cpp': scanLlamaCpp,
  jan: scanJan,
};

export async function scanForeignStore(
  name: ForeignStoreName,
  environment: ForeignEnvironment,
): Promise<ForeignScan> {
  return SCANNERS[name](environment);
}

export async function discover(environment: ForeignEnvironment): Promise<readonly ForeignScan[]> {
  const scans: ForeignScan[] = [];
  for (const name of FOREIGN_STORES) scans.push(await scanForeignStore(name, environment));
  return scans;
}
