import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Real coding agents, as far as they are on PATH: npm run test:agents. `hearth launch` lists the commands that install most of them. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/agents/*.agents.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    globalSetup: 'test/support/tiny-models.ts',
  },
});
