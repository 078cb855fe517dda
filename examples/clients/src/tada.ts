// Queries whose types TypeScript infers with gql.tada. The types of scalars are generated from the schema.
import { initGraphQLTada, type ResultOf, type VariablesOf } from 'gql.tada'
import type { Scalars } from '../generated/scalars.ts'
import type { introspection } from './graphql-env.d.ts'

const graphql = initGraphQLTada<{ introspection: introspection; scalars: Scalars }>()

export const query = graphql(`
  query Transfers($account: AccountRef!, $from: Timestamp) {
    account(id: $account) {
      transfers(first: 5, timestamp: { gte: $from }) {
        nodes { consensusTimestamp amount transaction { type } }
      }
    }
  }
`)

export const variables: VariablesOf<typeof query> = { account: '0.0.1001', from: '1779021280.000000000' }

/** Amounts are strings, because they can have 64 bits. */
export const sum = (result: ResultOf<typeof query>): bigint =>
  result.account?.transfers.nodes.reduce((total, { amount }) => total + BigInt(amount), 0n) ?? 0n

// @ts-expect-error An amount is a string, not a number.
export const wrong: ResultOf<typeof query> = { account: { transfers: { nodes: [{ consensusTimestamp: '1.0', amount: 1, transaction: null }] } } }
