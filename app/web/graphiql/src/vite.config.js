import { defineConfig } from 'vite';

// The page is served at …/graphiql (no trailing slash), its files below …/graphiql/. The document therefore names
// them as ./graphiql/…, and scripts and style sheets name each other relative to themselves: nothing depends on the
// host or on a path prefix that a proxy adds.
export default defineConfig({
  base: './',
  build: {
    target: 'es2022',
    outDir: '../dist',
    emptyOutDir: true,
    // Files stay files: with no data: URLs the content security policy can be tighter, and caching works per file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 4096,
    // "use client" means something to server rendering only.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
  worker: { format: 'es' },
  // This is how graphql learns that it runs in production, where it leaves its checks for duplicate copies out.
  define: { 'globalThis.process': 'true' },
  experimental: {
    renderBuiltUrl(filename, { hostType }) {
      return hostType === 'html' ? `./graphiql/${filename}` : { relative: true };
    },
  },
});
