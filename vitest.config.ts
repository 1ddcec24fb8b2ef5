import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{src,tools,bench}/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    globalSetup: 'test/support/tiny-models.ts',
  },
});
