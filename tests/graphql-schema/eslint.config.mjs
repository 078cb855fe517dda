// The rules that the schema keeps: those for every schema and those of Relay.
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
      // A connection has its rows as `nodes` too, beside the edges.
      '@graphql-eslint/relay-edge-types': ['error', { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false }],
      '@graphql-eslint/require-description': ['error', { types: true, FieldDefinition: false, InputValueDefinition: true, EnumValueDefinition: true, DirectiveDefinition: true, rootField: true }],
      '@graphql-eslint/require-deprecation-reason': 'error',
      // Values are no things of their own, and have no ids.
      '@graphql-eslint/strict-id-in-types': 'off',
      // _entities and the types around it have the names that federations give them; EVM, NFT and API stay capital.
      '@graphql-eslint/naming-convention': ['error', {
        allowLeadingUnderscore: true,
        FieldDefinition: { style: 'camelCase', ignorePattern: '^_(service|entities)$' },
        InputValueDefinition: 'camelCase',
        Argument: 'camelCase',
        DirectiveDefinition: 'camelCase',
        EnumValueDefinition: 'UPPER_CASE',
        types: { style: 'PascalCase', ignorePattern: '^_(Any|Entity|Service)$' },
      }],
      // Filters and counts are shared by all lists, which makes some types of Query's neighbours alike on purpose.
      '@graphql-eslint/no-typename-prefix': 'off',
    },
  },
]
