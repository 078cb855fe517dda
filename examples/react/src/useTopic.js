import { createClient } from 'graphql-sse'
import { useEffect, useState } from 'react'

const subscription = `subscription Topic($topic: EntityID!, $from: Timestamp) {
  topicMessages(topic: $topic, from: $from) { sequenceNumber consensusTimestamp text payer { entityId memo } }
}`

// A minute ago, as a consensus time: what the page shows before anything new is said.
const aMinuteAgo = () => `${Math.floor(Date.now() / 1000) - 60}.000000000`

/** How many messages are kept on the page. */
const most = 50

/**
 * Listens to a topic for as long as the component is shown. After a break it goes on behind the last message, so that none is lost and none comes twice.
 * @returns {{ messages: object[], state: 'connecting' | 'live' | 'broken', problem: string }} newest message first
 */
export function useTopic(url, topic) {
  const [messages, setMessages] = useState([])
  const [state, setState] = useState('connecting')
  const [problem, setProblem] = useState('')

  useEffect(() => {
    const client = createClient({ url, retryAttempts: 0 })
    let ended = false
    let timer
    async function listen(from) {
      try {
        for await (const { data, errors } of client.iterate({ query: subscription, variables: { topic, from } })) {
          if (errors) throw new Error(errors[0].message)
          const message = data.topicMessages
          from = message.consensusTimestamp
          setState('live')
          setMessages((known) => [message, ...known].slice(0, most))
        }
      } catch (error) {
        setProblem(error.message ?? String(error))
      }
      if (ended) return
      setState('broken')
      timer = setTimeout(listen, 1000, from)
    }
    setMessages([])
    listen(aMinuteAgo())
    return () => {
      ended = true
      clearTimeout(timer)
      client.dispose()
    }
  }, [url, topic])

  return { messages, state, problem }
}
