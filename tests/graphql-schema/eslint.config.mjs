// Lint rules for the schema: the recommended rules and the Relay rules.
import graphql from '@graphql-eslint/eslint-plugin'

export default [
  {
    files: ['**/*.graphql'],
    languageOptions: {
      parser: graphql.parser,
      parserOptions: { graphQLConfig: { schema: 'schema.graphql' } },
    },
    plugins: { '@graphql-eslint': graphql },
    rules: {
      ...graphql.configs['flat/schema-recommended'].rules,
      ...graphql.configs['flat/schema-relay'].rules,
      // Connections have the field `nodes` in addition to `edges`.
      '@graphql-eslint/relay-edge-types': ['error', { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false }],
      // Search results are ranked, so their pages go forward only.
      '@graphql-eslint/relay-arguments': ['error', { includeBoth: false }],
      '@graphql-eslint/require-description': ['error', { types: true, FieldDefinition: false, InputValueDefinition: true, EnumValueDefinition: true, DirectiveDefinition: true, rootField: true }],
      '@graphql-eslint/require-deprecation-reason': 'error',
      // Value types have no global ID.
      '@graphql-eslint/strict-id-in-types': 'off',
      // Apollo Federation prescribes the names that start with an underscore. EVM, NFT and API are acronyms.
      '@graphql-eslint/naming-convention': ['error', {
        allowLeadingUnderscore: true,
        FieldDefinition: { style: 'camelCase', ignorePattern: '^_(service|entities)$' },
        InputValueDefinition: 'camelCase',
        Argument: 'camelCase',
        DirectiveDefinition: 'camelCase',
        EnumValueDefinition: 'UPPER_CASE',
        types: { style: 'PascalCase', ignorePattern: '^_(Any|Entity|Service)$' },
      }],
      // Filters and counts are shared by all lists, so some types have the same fields.
      '@graphql-eslint/no-typename-prefix': 'off',
    },
  },
]
