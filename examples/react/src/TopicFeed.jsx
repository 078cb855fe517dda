import { useTopic } from './useTopic.js'

const states = { connecting: 'Connecting …', live: 'Live', broken: 'Disconnected; trying again' }

const time = (timestamp) => new Date(Number(timestamp.split('.')[0]) * 1000).toLocaleTimeString()

/** Shows the messages of a topic as they arrive. */
export function TopicFeed({ url, topic }) {
  const { messages, state, problem } = useTopic(url, topic)
  return (
    <main>
      <header>
        <h1>Topic {topic}</h1>
        <p role="status" className={state} title={state === 'broken' ? problem : undefined}>
          {states[state]}
        </p>
      </header>
      <ol>
        {messages.map((m) => (
          <li key={m.sequenceNumber}>
            <p>{m.text}</p>
            <footer>
              #{m.sequenceNumber} · {m.payer?.memo || m.payer?.entityId} · <time>{time(m.consensusTimestamp)}</time>
            </footer>
          </li>
        ))}
      </ol>
    </main>
  )
}
