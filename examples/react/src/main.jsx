import { createRoot } from 'react-dom/client'
import { TopicFeed } from './TopicFeed.jsx'
import './style.css'

// Query parameters select the gateway and the topic: /?gateway=http://localhost:8080&topic=0.0.4001
const parameters = new URLSearchParams(location.search)
const gateway = parameters.get('gateway') ?? 'http://localhost:8080'
const topic = parameters.get('topic') ?? '0.0.4001'

createRoot(document.getElementById('root')).render(<TopicFeed url={`${gateway}/graphql`} topic={topic} />)
