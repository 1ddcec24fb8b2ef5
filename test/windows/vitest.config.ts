import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Hearth on Windows' Node under Wine: npm run test:windows. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/windows/*.windows.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    fileParallelism: false,
    sequence: { shuffle: false },
  },
});
