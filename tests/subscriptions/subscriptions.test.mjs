// Tests subscriptions over both transports: existing and new events, unsubscribing, errors, and resuming after a lost connection without lost or repeated
// events. The gateway at HELIOGRAPH_URL must run the live demo network.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient as createSSE } from 'graphql-sse'
import { createClient as createWS } from 'graphql-ws'
import WebSocket from 'ws'

const url = `${process.env.HELIOGRAPH_URL}/graphql`
const topic = '0.0.4001'
const messages = 'subscription Messages($topic: EntityID!, $from: Timestamp) { topicMessages(topic: $topic, from: $from) { sequenceNumber consensusTimestamp text } }'
const newest = 'query Newest($topic: EntityID!) { topic(id: $topic) { messages(first: 1, order: DESC) { nodes { sequenceNumber consensusTimestamp } } } }'

// Each transport has its own client, and a function that interrupts its connection.
const transports = {
  'graphql-ws': () => {
    let socket
    const client = createWS({
      url: url.replace(/^http/, 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      on: { connected: (s) => (socket = s) },
    })
    return { client, cut: () => socket.terminate(), end: () => client.dispose() }
  },
  'graphql-sse': () => {
    let aborted = new AbortController()
    const client = createSSE({
      url,
      retryAttempts: 0,
      fetchFn: (input, init) => {
        aborted = new AbortController()
        return fetch(input, { ...init, signal: AbortSignal.any([init.signal, aborted.signal]) })
      },
    })
    return { client, cut: () => aborted.abort(), end: () => client.dispose() }
  },
}

// first reads events until enough returns true, then unsubscribes.
async function first(events, enough) {
  const got = []
  for await (const { data, errors } of events) {
    assert.equal(errors, undefined)
    got.push(data.topicMessages)
    if (enough(got)) break
  }
  return got
}

const numbers = (events) => events.map((e) => Number(e.sequenceNumber))
const following = (start, length) => Array.from({ length }, (_, i) => start + i)

async function newestMessage(client) {
  const answers = []
  for await (const answer of client.iterate({ query: newest, variables: { topic } })) answers.push(answer)
  assert.equal(answers.length, 1, 'a query has one result')
  return answers[0].data.topic.messages.nodes[0]
}

for (const [name, connect] of Object.entries(transports)) {
  test(`${name}: existing events, then new ones`, async () => {
    const { client, end } = connect()
    const known = Number((await newestMessage(client)).sequenceNumber)
    const heard = await first(client.iterate({ query: messages, variables: { topic, from: '0.0' } }), (got) => got.length === known + 2)
    assert.deepEqual(numbers(heard), following(1, known + 2))
    const times = heard.map((e) => BigInt(e.consensusTimestamp.replace('.', '')))
    assert.ok(times.every((t, i) => i === 0 || times[i - 1] < t), 'consensus timestamps must increase')
    end()
  })

  test(`${name}: new events only`, async () => {
    const { client, end } = connect()
    const known = Number((await newestMessage(client)).sequenceNumber)
    const [event] = await first(client.iterate({ query: messages, variables: { topic } }), () => true)
    assert.ok(Number(event.sequenceNumber) > known)
    end()
  })

  test(`${name}: resume after a lost connection`, async () => {
    const { client, cut, end } = connect()
    const known = await newestMessage(client)
    let from = known.consensusTimestamp
    const heard = []
    for (const pause of [0, 3000, 0]) {
      await assert.rejects(async () => {
        for await (const { data } of client.iterate({ query: messages, variables: { topic, from } })) {
          heard.push(data.topicMessages)
          if (heard.length % 2 === 0) cut()
        }
      })
      from = heard.at(-1).consensusTimestamp
      await new Promise((r) => setTimeout(r, pause))
    }
    const rest = await first(client.iterate({ query: messages, variables: { topic, from } }), () => true)
    const all = numbers([...heard, ...rest])
    assert.deepEqual(all, following(Number(known.sequenceNumber) + 1, all.length))
    assert.ok(all.length >= 7, `${all.length} events`)
    end()
  })

  test(`${name}: errors`, async () => {
    const { client, end } = connect()
    const refusal = async (query) => {
      try {
        for await (const { data, errors } of client.iterate({ query })) {
          assert.ok(!data)
          return errors
        }
      } catch (errors) {
        return errors
      }
    }
    const [unknown] = await refusal('subscription { nothing }')
    assert.match(unknown.message, /nothing/)
    const [refused] = await refusal('subscription { contractLogs(filter: {index: {eq: "1"}}) { index } }')
    assert.match(refused.message, /does not filter by index/)
    assert.equal(refused.extensions.code, 'BAD_USER_INPUT')
    end()
  })
}

test('graphql-ws: unsubscribe one of two subscriptions on a connection', async () => {
  const { client, end } = transports['graphql-ws']()
  const blocks = client.iterate({ query: 'subscription { blocks { number } }' })
  await first(client.iterate({ query: messages, variables: { topic, from: '0.0' } }), (got) => got.length === 3)
  const received = []
  for await (const { data } of blocks) {
    received.push(Number(data.blocks.number))
    if (received.length === 2) break
  }
  assert.deepEqual(received, following(received[0], 2))
  end()
})
