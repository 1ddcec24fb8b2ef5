/** `npm test` in a package: its tests alone, without the models and the order that the whole suite needs. */
import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { testTimeout: 120_000, isolate: false } });
