// Uses the files of the code blocks, as snippets.mjs directs.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client'
import { ApolloProvider } from '@apollo/client/react'
import { createClient } from 'graphql-ws'
import { createRoot } from 'react-dom/client'
import { client } from '../project/src/client'
import { Chat, Named, New } from '../project/src/documents'
import { downloadHistory } from '../project/src/download'
import { follow } from '../project/src/follow'
import { byId, persisted } from '../project/src/trusted'
import { useTransfers } from '../project/src/useTransfers'

function Transfers({ account }: { account: string }) {
  const { rows } = useTransfers(account)
  return <ol>{rows?.map((row) => <li key={row.id} id={row.id}>{row.amountValue.display}</li>)}</ol>
}

const numbers: number[] = []
const times: string[] = []

export const snippets = {
  numbers,
  times,
  chat(topic: string) {
    const events = client.subscribe({ query: Chat, variables: { topic, from: '0.0' } })
    events.subscribe(({ data, error }) => {
      if (error) console.error(error.message)
      else if (data) numbers.push(Number(data.topicMessages.sequenceNumber))
    })
  },
  follow(account: string, url: string) {
    const socket = createClient({ url: `${url.replace(/^http/, 'ws')}/graphql`, retryAttempts: Infinity, shouldRetry: () => true })
    follow(socket, account, '0.0', ({ transactions }) => times.push(transactions.consensusTimestamp))
  },
  show(account: string) {
    createRoot(document.getElementById('root')!).render(
      <ApolloProvider client={client}>
        <Transfers key={account} account={account} />
      </ApolloProvider>,
    )
  },
  async download(url: string, document: string, account: string) {
    const saved: { name: string; blob?: Blob } = { name: '' }
    URL.createObjectURL = (blob: Blob) => {
      saved.blob = blob
      return '#'
    }
    HTMLAnchorElement.prototype.click = function () {
      saved.name = this.download
    }
    await downloadHistory(url, document, account)
    return { name: saved.name, text: await saved.blob!.text() }
  },
  async byId(url: string) {
    const link = ApolloLink.from([persisted, new HttpLink({ uri: `${url}/graphql` })])
    const trusted = new ApolloClient({ link, cache: new InMemoryCache() })
    const { data } = await trusted.query({ query: Named, variables: { account: '0.0.1001' } })
    // The database has no events, so that only a document that is not trusted ends the subscription, with an error.
    const socket = createClient({ url: `${url.replace(/^http/, 'ws')}/graphql`, retryAttempts: 0 })
    const subscribed = await new Promise<boolean>((done) => {
      const ended = (reason?: unknown) => {
        if (reason) console.error(JSON.stringify(reason))
        done(false)
      }
      socket.subscribe(byId(New, 'New', {}), { next: ended, error: ended, complete: ended })
      setTimeout(() => done(true), 2000)
    })
    return { account: data?.account ?? null, subscribed }
  },
}

declare global {
  interface Window {
    snippets: unknown
  }
}
window.snippets = snippets
