// The transfers of an account with Apollo Client. The policies of the cache are generated from the schema.
import { ApolloClient, gql, HttpLink, InMemoryCache, type TypedDocumentNode } from '@apollo/client'
import { ApolloProvider, useQuery } from '@apollo/client/react'
import { createRoot } from 'react-dom/client'
import { possibleTypes, typePolicies } from '../generated/apollo.ts'
import { account, endpoint, Page } from './page.tsx'

interface Transfer {
  id: string
  consensusTimestampIso: string
  amount: string
  token: { symbol: string } | null
  transaction: { type: string } | null
}

interface Data {
  account: {
    transfers: { edges: { node: Transfer }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }
  } | null
  search: { nodes: { memo?: string }[] }
}

const query: TypedDocumentNode<Data, { account: string; after: string | null }> = gql`
  query Transfers($account: AccountRef!, $after: String) {
    account(id: $account) {
      id
      transfers(first: 5, after: $after) {
        edges {
          cursor
          node {
            id
            consensusTimestampIso
            amount
            token {
              id
              symbol
            }
            transaction {
              id
              type
            }
          }
        }
        pageInfo {
          hasNextPage
          hasPreviousPage
          startCursor
          endCursor
        }
      }
    }
    search(text: "0.0.1001") {
      nodes {
        ... on Entity {
          memo
        }
      }
    }
  }
`

const client = new ApolloClient({ link: new HttpLink({ uri: endpoint }), cache: new InMemoryCache({ possibleTypes, typePolicies }) })

function Transfers() {
  const { data, error, fetchMore } = useQuery(query, { variables: { account, after: null } })
  if (error) return <p>{error.message}</p>
  const transfers = data?.account?.transfers
  if (!transfers) return <p>Loading …</p>
  const { hasNextPage, endCursor } = transfers.pageInfo
  const rows = transfers.edges.map(({ node: { token, transaction, ...rest } }) => ({ ...rest, symbol: token?.symbol ?? 'tinybars', name: transaction?.type }))
  return <Page title={data.search.nodes[0]?.memo} rows={rows} more={hasNextPage ? () => void fetchMore({ variables: { after: endCursor } }) : null} />
}

createRoot(document.getElementById('root')!).render(
  <ApolloProvider client={client}>
    <Transfers />
  </ApolloProvider>,
)
