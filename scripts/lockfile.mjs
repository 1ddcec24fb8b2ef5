/**
 * node scripts/lockfile.mjs: run it after every `npm install`. Of llama.cpp's libraries, package-lock.json then lets
 * only those for the processor at hand be installed; the packages for ARM say that they allow x64 as well.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './prepare.mjs';

/** In npm's words. */
const PROCESSORS = {
  'linux-arm64': 'arm64',
  'linux-armv7l': 'arm',
  'linux-x64': 'x64',
  'mac-arm64-metal': 'arm64',
  'mac-x64': 'x64',
  'win-arm64': 'arm64',
  'win-x64': 'x64',
};

const file = path.join(root, 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));
for (const [name, cpu] of Object.entries(PROCESSORS))
  lock.packages[`node_modules/@node-llama-cpp/${name}`].cpu = [cpu];
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
