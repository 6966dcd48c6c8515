import { defineConfig } from 'vitest/config';

// Times in Chromium, one after another, against a platform as full as wanted (bench.sh).
export default defineConfig({
  test: {
    include: ['bench/**/*.test.ts'], environment: 'node', globalSetup: './bench/platform.ts', pool: 'forks', maxWorkers: 1,
    testTimeout: 3_600_000, hookTimeout: 3_600_000, teardownTimeout: 120_000, reporters: ['default'], disableConsoleIntercept: true,
  },
});
