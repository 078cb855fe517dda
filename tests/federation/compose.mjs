// Composes the gateway's schema with another subgraph that references accounts and tokens by entity ID and adds fields to them. Then sends the queries
// that a router would send to the gateway.
import { composeServices } from '@apollo/composition'
import { parse } from 'graphql'

const url = `${process.env.HELIOGRAPH_URL}/graphql`

async function ask(query, variables) {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query, variables }) })
  const answer = await response.json()
  if (answer.errors) throw new Error(JSON.stringify(answer.errors))
  return answer.data
}

const names = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])

  scalar EntityID

  type Account implements Node @key(fields: "entityId") @key(fields: "id") {
    id: ID!
    entityId: EntityID!
    nickname: String
    friends(first: Int): FriendConnection!
  }
  type Token @key(fields: "entityId") {
    entityId: EntityID!
    rating: Int!
  }
  type FriendConnection { edges: [FriendEdge!]! pageInfo: PageInfo! }
  type FriendEdge { node: Account! cursor: String! }
  type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  interface Node { id: ID! }
  type Note implements Node @key(fields: "id") { id: ID! text: String! }
  type Query {
    favourites: [Account!]!
    node(id: ID!): Node @shareable
    nodes(ids: [ID!]!): [Node]! @shareable
  }
`

const { _service: { sdl } } = await ask('{ _service { sdl } }')
const result = composeServices([
  { name: 'ledger', url, typeDefs: parse(sdl) },
  { name: 'names', url: 'http://127.0.0.1:1/graphql', typeDefs: parse(names) },
])
if (result.errors) throw new Error(result.errors.map((e) => e.message).join('\n'))
for (const part of [/type Account[^{]*@join__type\(graph: NAMES, key: "entityId"\)/, /nickname: String @join__field\(graph: NAMES\)/, /rating: Int! @join__field\(graph: NAMES\)/]) {
  if (!part.test(result.supergraphSdl)) throw new Error(`${part} is not in the composed schema`)
}

const { accounts } = await ask('{ accounts(first: 2) { nodes { id entityId memo } } }')
const [a, b] = accounts.nodes
const { _entities: got } = await ask(
  'query($r: [_Any!]!) { _entities(representations: $r) { ... on Account { id entityId memo } } }',
  { r: [{ __typename: 'Account', entityId: b.entityId }, { __typename: 'Account', id: a.id }, { __typename: 'Account', entityId: '0.0.999999999' }] },
)
const want = JSON.stringify([b, a, null])
if (JSON.stringify(got) !== want) throw new Error(`_entities returned ${JSON.stringify(got)}, want ${want}`)
console.log('composed two subgraphs and resolved references')
