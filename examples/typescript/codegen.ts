import type { CodegenConfig } from '@graphql-codegen/cli'

const config: CodegenConfig = {
  // A gateway that runs serves its schema too: `${HELIOGRAPH_URL}/graphql/schema.graphql`.
  schema: process.env.HELIOGRAPH_SCHEMA ?? '../../graph/schema.graphql',
  documents: 'src/*.ts',
  emitLegacyCommonJSImports: false,
  generates: { 'src/gql/': { preset: 'client', presetConfig: { fragmentMasking: false } } },
  config: {
    enumsAsTypes: true,
    useTypeImports: true,
    // 64-bit numbers, times and ids are strings, so that nothing is rounded.
    defaultScalarType: 'string',
  },
}
export default config
