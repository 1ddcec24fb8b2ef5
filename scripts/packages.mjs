/** What package.json and the lockfile say, and npm asked about it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { OUTSIDE } from './bundle/server.mjs';
import { npm, root } from './prepare.mjs';

const readJson = (name) => JSON.parse(readFileSync(path.join(root, name), 'utf8'));

/** package.json without what is for a checkout only. */
export function runningManifest() {
  const { scripts: _, devDependencies: __, ...manifest } = readJson('package.json');
  return manifest;
}

/** The lockfile of it: what an installation without development tools may have, on every platform. */
export function runningLock() {
  const { packages, ...lock } = readJson('package-lock.json');
  const { '': __, ...entries } = packages;
  const running = Object.entries(entries).filter(([, { dev }]) => dev !== true);
  return { ...lock, packages: { '': runningManifest(), ...Object.fromEntries(running) } };
}

/** package.json as a user's machine gets it: what the bundles contain is not installed beside them. */
export function installedManifest() {
  const { dependencies, imports: _, overrides: __, ...manifest } = runningManifest();
  const beside = Object.entries(dependencies).filter(([name]) => OUTSIDE.some((each) => each.test(name)));
  return { ...manifest, dependencies: Object.fromEntries(beside) };
}

/** The lockfile of that, on every platform. */
export function installedLock() {
  const { packages, ...lock } = runningLock();
  const manifest = installedManifest();
  const kept = { '': manifest };
  const keep = ({ dependencies = {}, optionalDependencies = {} }) => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = `node_modules/${name}`;
      if (place in kept) continue;
      kept[place] = packages[place];
      keep(packages[place]);
    }
  };
  keep(manifest);
  return { ...lock, packages: kept };
}

/** What npm prints on stdout. */
export function npmOutput(args) {
  return execFileSync(npm, [...args, '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    stdio: ['ignore', 'pipe', 2],
    shell: process.platform === 'win32',
  });
}
