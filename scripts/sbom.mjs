/**
 * npm run sbom: prints the bill of materials of what an installation runs, as CycloneDX: the packages of every platform
 * as the lockfile pins them, and the models that ship with Hearth. The same sources give the same bytes.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { npmOutput, runningLock, runningManifest } from './packages.mjs';
import { root } from './prepare.mjs';

export function billOfMaterials() {
  const { serialNumber: _, ...bom } = npmBillOfMaterials();
  // When and with which npm it was written says nothing about what it lists.
  const { timestamp: __, tools: ___, ...metadata } = bom.metadata;
  const { name, version } = runningManifest();
  const component = { ...metadata.component, name, version };
  return { ...bom, metadata: { ...metadata, component }, components: [...bom.components, ...models()] };
}

/** Of a folder without development tools: `--omit dev` also omits what both they and Hearth need. */
function npmBillOfMaterials() {
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-sbom-'));
  try {
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify(runningManifest()));
    writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(runningLock()));
    const kind = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
    return JSON.parse(npmOutput(['sbom', ...kind, '--package-lock-only', '--prefix', folder]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function models() {
  const { version, license } = runningManifest();
  const folder = path.join(root, 'models');
  const file = (name) => path.join(folder, name, 'model.gguf');
  return readdirSync(folder)
    .filter((name) => existsSync(file(name)))
    .map((name) => ({
      'bom-ref': `model:${name}`,
      type: 'machine-learning-model',
      name,
      version,
      hashes: [
        {
          alg: 'SHA-256',
          content: createHash('sha256')
            .update(readFileSync(file(name)))
            .digest('hex'),
        },
      ],
      licenses: [{ license: { id: license } }],
    }));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  console.log(JSON.stringify(billOfMaterials(), null, 2));
