// Tests @defer with several clients: the first result contains the fields that are not deferred, and later results add the deferred fragments. The last result
// must be equal to the complete response without incremental delivery. The query reads the oldest transactions, because the live network adds new ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as apollo4 from '@apollo/client'
import { Defer20220824Handler } from '@apollo/client/incremental'
import * as urql from '@urql/core'
import apollo3 from 'apollo-client-3/core/core.cjs'
import { parse } from 'graphql'
import { meros } from 'meros/browser'

const url = `${process.env.HELIOGRAPH_URL}/graphql`
const document = `
  query Page($later: Boolean! = true) {
    accounts(first: 3) {
      nodes {
        id
        entityId
        ... on Account @defer(if: $later, label: "recent") {
          transactions(first: 2, order: ASC) { nodes { id type ...Payer @defer(label: "payer") } }
        }
      }
    }
  }
  fragment Payer on Transaction { payer { id memo } }`
const headers = { 'content-type': 'application/json' }

async function whole() {
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: document }) })
  assert.match(answer.headers.get('content-type'), /^application\/json/)
  return (await answer.json()).data
}

const plain = (data) => JSON.parse(JSON.stringify(data, (name, value) => (name === '__typename' ? undefined : value)))

// follows checks the sequence of results: accounts without transactions, then without payers of transactions, then complete.
async function follows(shown) {
  const want = await whole()
  shown = shown.filter(Boolean).map(plain)
  assert.ok(shown.length >= 2, `only ${shown.length} results`)
  assert.deepEqual(shown[0], { accounts: { nodes: want.accounts.nodes.map(({ id, entityId }) => ({ id, entityId })) } })
  assert.deepEqual(shown.at(-1), want)
}

function fromApollo({ ApolloClient, InMemoryCache, HttpLink }, options) {
  const client = new ApolloClient({ link: new HttpLink({ uri: url, fetch }), cache: new InMemoryCache(), ...options })
  const shown = []
  return new Promise((resolve, reject) => {
    const watched = client.watchQuery({ query: parse(document), fetchPolicy: 'no-cache' })
    watched.subscribe({
      next({ data, error, loading, networkStatus }) {
        if (error) return reject(error)
        if (data && Object.keys(data).length > 0) shown.push(structuredClone(data))
        if (!loading && networkStatus === 7) resolve(shown)
      },
      error: reject,
    })
  }).finally(() => client.stop())
}

test('Apollo Client 3', async () => follows(await fromApollo(apollo3)))

test('Apollo Client 4', async () => follows(await fromApollo(apollo4, { incrementalHandler: new Defer20220824Handler() })))

test('urql', async () => {
  // This client also accepts server-sent events, which the gateway prefers. Remove them to test the multipart format.
  for (const accept of [undefined, 'application/json, multipart/mixed']) {
    const client = new urql.Client({
      url,
      preferGetMethod: false,
      exchanges: [urql.fetchExchange],
      fetchOptions: accept && { headers: { accept } },
    })
    const shown = []
    await new Promise((resolve, reject) => {
      client.query(document, {}).subscribe(({ data, error, hasNext }) => {
        if (error) reject(error)
        shown.push(structuredClone(data))
        if (!hasNext) resolve()
      })
    })
    await follows(shown)
  }
})

test('meros', async () => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, accept: 'multipart/mixed;deferSpec=20220824, application/json' },
    body: JSON.stringify({ query: document, operationName: 'Page' }), // a different operation name, because a cached response is not incremental
  })
  const labels = []
  for await (const { json, body } of await meros(answer)) {
    assert.ok(json)
    labels.push((body.incremental ?? []).map((one) => one.label).filter((label, i, all) => all.indexOf(label) === i))
  }
  assert.deepEqual(labels, [[], ['recent'], ['payer']])
})

test('@defer(if: false)', async () => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, accept: 'multipart/mixed;deferSpec=20220824, application/json' },
    body: JSON.stringify({ query: document.replace('...Payer @defer(label: "payer")', '...Payer'), variables: { later: false } }),
  })
  assert.match(answer.headers.get('content-type'), /^application\/json/)
  assert.deepEqual((await answer.json()).data, await whole())
})
