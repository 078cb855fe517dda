// The transfers of an account with Relay. relay-compiler reads the schema and the types of its scalars, and writes the types of the queries.
import { Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { graphql, RelayEnvironmentProvider, useLazyLoadQuery, usePaginationFragment } from 'react-relay'
import { Environment, Network, RecordSource, Store } from 'relay-runtime'
import type { relay_transfers$key } from './__generated__/relay_transfers.graphql.ts'
import type { relayQuery } from './__generated__/relayQuery.graphql.ts'
import { account, endpoint, Page } from './page.tsx'

const environment = new Environment({
  store: new Store(new RecordSource()),
  network: Network.create(async ({ text }, variables) => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: text, variables }),
    })
    return response.json()
  }),
})

function Transfers({ of, title }: { of: relay_transfers$key; title: string | undefined }) {
  const { data, loadNext, hasNext } = usePaginationFragment(
    graphql`
      fragment relay_transfers on Account
      @argumentDefinitions(first: { type: "Int", defaultValue: 5 }, after: { type: "String" })
      @refetchable(queryName: "relayPageQuery") {
        transfers(first: $first, after: $after) @connection(key: "relay_transfers") {
          edges {
            node {
              id
              consensusTimestampIso
              amount
              token {
                symbol
              }
              transaction {
                type
              }
            }
          }
        }
      }
    `,
    of,
  )
  const rows = data.transfers.edges.map(({ node: { token, transaction, ...rest } }) => ({ ...rest, symbol: token?.symbol ?? 'tinybars', name: transaction?.type }))
  return <Page title={title} rows={rows} more={hasNext ? () => loadNext(5) : null} />
}

function App() {
  const data = useLazyLoadQuery<relayQuery>(
    graphql`
      query relayQuery($account: AccountRef!) {
        account(id: $account) {
          ...relay_transfers
        }
        search(text: "0.0.1001") {
          nodes {
            ... on Entity {
              memo
            }
          }
        }
      }
    `,
    { account },
  )
  return data.account ? <Transfers of={data.account} title={data.search.nodes[0]?.memo} /> : <p>Not found</p>
}

createRoot(document.getElementById('root')!).render(
  <RelayEnvironmentProvider environment={environment}>
    <Suspense fallback={<p>Loading …</p>}>
      <App />
    </Suspense>
  </RelayEnvironmentProvider>,
)
