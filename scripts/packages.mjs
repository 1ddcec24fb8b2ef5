/** What package.json and the lockfile say, and npm asked about it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
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
