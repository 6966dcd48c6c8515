import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// Units run in Node; stories in Chromium, against a platform that one setup starts for all.
export default defineConfig({
  test: {
    teardownTimeout: 60_000,
    reporters: ['default', './tests/summary.ts'],
    projects: [
      { plugins: [svelte()], test: { name: 'units', include: ['src/**/*.test.ts'], environment: 'node' } },
      {
        test: {
          // PICTURES=1 makes those of docs/pictures alone, on a platform that looks lived in.
          name: 'stories', include: [process.env['PICTURES'] === '1' ? 'tests/screens-*english.test.ts' : 'tests/**/*.test.ts'], environment: 'node', globalSetup: './tests/platform.ts',
          // A machine that is busy otherwise may take many times as long: what a test waits for ends it, not the clock.
          testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 120_000, interval: 100 } },
          pool: 'forks', maxWorkers: 2, sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
