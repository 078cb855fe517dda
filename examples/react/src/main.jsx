import { createRoot } from 'react-dom/client'
import { Gallery } from './Gallery.jsx'
import { TopicFeed } from './TopicFeed.jsx'
import './style.css'

// Query parameters select the gateway, and the topic or the collection: /?gateway=http://localhost:8080&topic=0.0.4001, /?collection=0.0.2015
const parameters = new URLSearchParams(location.search)
const gateway = parameters.get('gateway') ?? 'http://localhost:8080'
const topic = parameters.get('topic') ?? '0.0.4001'

const collection = parameters.get('collection')

createRoot(document.getElementById('root')).render(
  collection ? <Gallery gateway={gateway} collection={collection} /> : <TopicFeed url={`${gateway}/graphql`} topic={topic} />,
)
