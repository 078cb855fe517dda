import { createClient } from 'graphql-sse'
import { useEffect, useState } from 'react'

const subscription = `subscription Topic($topic: EntityID!, $from: Timestamp) {
  topicMessages(topic: $topic, from: $from) { sequenceNumber consensusTimestamp text payer { entityId memo } }
}`

// The consensus timestamp one minute ago: the page starts with messages since then.
const aMinuteAgo = () => `${Math.floor(Date.now() / 1000) - 60}.000000000`

/** Maximum number of messages on the page. */
const most = 50

/**
 * Subscribes to a topic while the component is mounted. After a lost connection it resumes after the last message, so that each message appears once.
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
