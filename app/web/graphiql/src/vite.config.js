import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// Features of Monaco that neither GraphQL nor JSON use. The page omits them, about 40 KB.
const UNUSED_FEATURES = [
  'codelens',
  'colorPicker',
  'diffEditorBreadcrumbs',
  'dropOrPasteInto',
  'inlayHints',
  'inlineCompletions',
  'inlineEdit',
  'inlineEdits',
  'inlineProgress',
  'linkedEditing',
  'rename',
  'sectionHeaders',
  'semanticTokens',
  'stickyScroll',
];
const unusedImports = new RegExp(`^import './(contrib/(${UNUSED_FEATURES.join('|')})/|contrib/suggest/browser/suggestInline|browser/widget/diffEditor/).*$`, 'gm');
const withoutUnusedFeatures = {
  name: 'without-unused-features',
  enforce: 'pre',
  transform(code, id) {
    if (id.endsWith('monaco-editor/esm/vs/editor/editor.all.js')) {
      return { code: code.replace(unusedImports, ''), map: null };
    }
    // workers.js loads the icon font.
    return id.endsWith('/codicon.css') ? { code: code.replace(/@font-face\s*\{[^}]*\}/, ''), map: null } : null;
  },
};

// Parts of GraphiQL that the page loads after the editor, or replaces by smaller ones: the importing file, the name in it, and the file to import instead.
const REPLACED = [
  [/plugin-doc-explorer\/dist\/context\.js$/, './components/doc-explorer.js', 'src/LazyDocs.jsx'],
  [/plugin-explorer\/dist\/index\.js$/, 'graphiql-explorer', 'src/LazyExplorer.jsx'],
  [/@graphiql\/react\/dist\/components\/tabs\/index\.js$/, 'framer-motion', 'src/Reorder.jsx'],
];
const replacedParts = {
  name: 'replaced-parts',
  enforce: 'pre',
  resolveId(source, importer = '') {
    const replaced = REPLACED.find(([file, name]) => name === source && file.test(importer));
    return replaced ? fileURLToPath(new URL(replaced[2], import.meta.url)) : null;
  },
};

// The page is served at …/graphiql (no trailing slash), its files below …/graphiql/. The document therefore names
// them as ./graphiql/…, and scripts and style sheets name each other relative to themselves: nothing depends on the
// host or on a path prefix that a proxy adds.
export default defineConfig({
  base: './',
  plugins: [withoutUnusedFeatures, replacedParts],
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
