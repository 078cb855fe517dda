import { defineConfig } from 'vite';

// The page is served at …/docs/ and its files below; everything is named relative to the file that names it, so that nothing depends on the
// host or on a path prefix that a proxy adds. The server makes the same page fit for …/docs, without the slash.
export default defineConfig({
  base: './',
  build: {
    target: 'es2022',
    outDir: '../dist',
    emptyOutDir: true,
    // Files stay files: caching works per file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 4096,
  },
});
