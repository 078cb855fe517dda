import type { CodegenConfig } from '@graphql-codegen/cli'
import { readFileSync } from 'node:fs'

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
    scalars: JSON.parse(readFileSync('../clients/generated/scalars.json', 'utf8')),
    defaultScalarType: 'string', // those of federation
  },
}
export default config
