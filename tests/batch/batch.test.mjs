// Tests batches of operations with several clients: one request for all operations of a moment, whose results and errors reach their own callers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApolloClient, InMemoryCache, gql } from '@apollo/client'
import { BatchHttpLink } from '@apollo/client/link/batch-http'
import * as urql from '@urql/core'
import { GraphQLClient } from 'graphql-request'

const url = `${process.env.HELIOGRAPH_URL}/graphql`
const account = 'query Account($id: AccountRef!) { account(id: $id) { entityId } }'
const ids = ['0.0.2', '0.0.1001', '0.0.1002', '0.0.99999999']
const expected = ids.map((entityId) => (entityId === '0.0.99999999' ? null : entityId))

// counting returns a fetch function and the bodies that it has sent.
function counting(send = fetch) {
  const bodies = []
  return {
    bodies,
    fetch: (to, options) => {
      bodies.push(JSON.parse(options.body))
      return send(to, options)
    },
  }
}

test('Apollo', async () => {
  const sent = counting()
  const client = new ApolloClient({
    link: new BatchHttpLink({ uri: url, batchMax: 10, batchInterval: 20, fetch: sent.fetch }),
    cache: new InMemoryCache(),
    defaultOptions: { query: { errorPolicy: 'all' } },
  })
  const results = await Promise.all([
    ...ids.map((id) => client.query({ query: gql(account), variables: { id } })),
    client.query({ query: gql('query Wrong { account(id: "x") { entityId } }') }),
    client.query({ query: gql('query Unknown { nothing }') }),
  ])
  assert.deepEqual(
    results.slice(0, 4).map((r) => r.data.account?.entityId ?? null),
    expected,
  )
  assert.ok(results.slice(0, 4).every((r) => !r.error))
  assert.equal(results[4].error.errors[0].extensions.code, 'BAD_USER_INPUT')
  assert.match(results[5].error.errors[0].message, /Cannot query field "nothing"/)
  assert.equal(sent.bodies.length, 1)
  assert.equal(sent.bodies[0].length, 6)
  client.stop()
})

// batching returns a fetch function that sends the requests of a moment in one. docs/clients.md refers to it.
function batching(send = fetch, max = 10) {
  let waiting = []
  async function flush() {
    const batch = waiting.splice(0, max)
    if (waiting.length > 0) queueMicrotask(flush)
    const [{ to, options }] = batch
    const body = `[${batch.map((one) => one.options.body)}]`
    try {
      const response = await send(to, { ...options, body, signal: undefined })
      const results = await response.json()
      batch.forEach(({ resolve }, i) => resolve(Response.json(Array.isArray(results) ? results[i] : results, { status: response.status })))
    } catch (error) {
      batch.forEach(({ reject }) => reject(error))
    }
  }
  return (to, options) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ to, options, resolve, reject }) === 1) queueMicrotask(flush)
    })
}

test('urql', async () => {
  const sent = counting()
  const client = new urql.Client({ url, preferGetMethod: false, exchanges: [urql.fetchExchange], fetch: batching(sent.fetch) })
  const results = await Promise.all(ids.map((id) => client.query(account, { id }).toPromise()))
  assert.deepEqual(
    results.map((r) => r.error ?? r.data.account?.entityId ?? null),
    expected,
  )
  assert.ok(sent.bodies.length < ids.length, `${sent.bodies.length} requests`)
})

test('graphql-request', async () => {
  const sent = counting()
  const client = new GraphQLClient(url, { fetch: sent.fetch })
  const results = await client.batchRequests(ids.map((id) => ({ document: account, variables: { id } })))
  assert.deepEqual(
    results.map((r) => r.data.account?.entityId ?? null),
    expected,
  )
  assert.equal(sent.bodies.length, 1)
  await assert.rejects(client.batchRequests([{ document: account, variables: { id: '0.0.2' } }, { document: 'subscription { topicMessages(topic: "4001") { text } }' }]), /a batch cannot contain a subscription/)
})
