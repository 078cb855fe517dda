// Prints the data of an account that a wallet shows. The types are generated from the schema. After changes of the query, run `npm run codegen`.
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { print } from 'graphql'
import { graphql } from './gql/gql.js'

const endpoint = `${process.env.HELIOGRAPH_URL ?? 'http://localhost:8080'}/graphql`

const walletQuery = graphql(/* GraphQL */ `
  query Wallet($account: AccountRef!) {
    account(id: $account) {
      entityId
      memo
      balanceValue { display }
      transactions(first: 3) {
        nodes {
          transactionId
          type
          result
          transfers {
            accountId
            amount
          }
        }
      }
    }
  }
`)

async function ask<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Data> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify({ query: print(document), variables }),
  })
  const answer = (await response.json()) as { data?: Data; errors?: { message: string }[] }
  if (!answer.data) throw new Error(answer.errors?.map((e) => e.message).join('; ') ?? `HTTP status ${response.status}`)
  return answer.data
}

const id = process.argv[2] ?? '0.0.1001'
const { account } = await ask(walletQuery, { account: id })
if (!account) throw new Error(`account ${id} not found`)
console.log(`${account.entityId} (${account.memo}) balance: ${account.balanceValue?.display}`)
for (const t of account.transactions.nodes) {
  const own = t.transfers.filter((x) => x.accountId === account.entityId).reduce((sum, x) => sum + BigInt(x.amount), 0n)
  console.log(`${t.transactionId}  ${t.type}  ${t.result}  ${own} tinybars`)
}
