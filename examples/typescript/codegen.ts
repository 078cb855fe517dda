import type { CodegenConfig } from '@graphql-codegen/cli'

const config: CodegenConfig = {
  // A running gateway also serves its schema: `${HELIOGRAPH_URL}/graphql/schema.graphql`.
  schema: process.env.HELIOGRAPH_SCHEMA ?? '../../graph/schema.graphql',
  documents: 'src/*.ts',
  emitLegacyCommonJSImports: false,
  generates: { 'src/gql/': { preset: 'client', presetConfig: { fragmentMasking: false } } },
  config: {
    enumsAsTypes: true,
    useTypeImports: true,
    // 64-bit numbers, timestamps and IDs are strings, so that they keep their precision.
    defaultScalarType: 'string',
  },
}
export default config
