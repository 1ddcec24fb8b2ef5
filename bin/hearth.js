#!/usr/bin/env node
import { existsSync } from 'node:fs';

const program = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(program)) {
  const { main } = await import(program.href);
  await main(process.argv.slice(2));
} else {
  console.error('hearth is not built yet; npm start, in the folder of this checkout, builds and serves it.');
  process.exitCode = 1;
}
