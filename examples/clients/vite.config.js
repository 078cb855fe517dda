import { defineConfig } from 'vite'

/** Replaces the tags of Relay by imports of the artifacts that relay-compiler writes. */
const relay = {
  name: 'relay',
  enforce: 'pre',
  transform(code, id) {
    if (!id.includes('/src/') || !code.includes('react-relay')) return
    const imports = []
    const replaced = code.replace(/graphql`\s*(?:query|fragment)\s+(\w+)[^`]*`/g, (_, name) => {
      imports.push(`import ${name}_artifact from './__generated__/${name}.graphql.ts'`)
      return `${name}_artifact`
    })
    return { code: imports.join('\n') + '\n' + replaced, map: null }
  },
}

export default defineConfig({
  plugins: [relay],
  oxc: { jsx: { runtime: 'automatic' } },
  build: { rollupOptions: { input: ['apollo.html', 'relay.html'] }, chunkSizeWarningLimit: 2000 },
})
