import { defineConfig } from 'vitest/config';

/** Real coding agents, as far as they are on PATH: npm run test:agents. docs/agents.md says how they are installed. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/agents/*.agents.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    globalSetup: 'test/support/tiny-models.ts',
  },
});
