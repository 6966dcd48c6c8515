import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// Units run in Node; stories in Chromium, against a platform that one setup starts for all.
export default defineConfig({
  test: {
    reporters: ['default', './tests/summary.ts'],
    projects: [
      { plugins: [svelte()], test: { name: 'units', include: ['src/**/*.test.ts'], environment: 'node' } },
      {
        test: {
          name: 'stories', include: ['tests/**/*.test.ts'], environment: 'node', globalSetup: './tests/platform.ts',
          testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks', maxWorkers: 2, sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
