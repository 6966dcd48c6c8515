import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// The same bytes from any folder: no inlined assets, no polyfills, no source maps.
export default defineConfig({
  base: '/',
  publicDir: false,
  plugins: [svelte()],
  build: {
    outDir: process.env.DIST ?? '../dist',
    emptyOutDir: true,
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { console: 'console/index.html' },
      output: {
        // What several rooms use is one chunk, charts are another, and each room has its own.
        codeSplitting: {
          groups: [
            { name: 'kit', test: /src\/(ui\/(?!plot|Bars|Curve)|console\/(collection|form|Time))|bits-ui|floating-ui|tanstack/, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': process.env.API ?? 'http://127.0.0.1:8080' } },
});
