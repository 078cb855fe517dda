import { useEffect, useState } from 'react'

const query = `query Gallery($collection: EntityID!) {
  token(id: $collection) {
    name
    nfts(first: 24, filter: { deleted: false }) {
      nodes {
        serialNumber
        media { name description problem image { url mimeType } attributes { traitType value } }
      }
    }
  }
}`

/** Shows the NFTs of a collection with their pictures. Those in topics are served by the gateway, others by public gateways. */
export function Gallery({ gateway, collection }) {
  const [token, setToken] = useState(null)
  const [problem, setProblem] = useState('')

  useEffect(() => {
    const controller = new AbortController()
    async function load() {
      try {
        const response = await fetch(`${gateway}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query, variables: { collection } }),
          signal: controller.signal,
        })
        const { data, errors } = await response.json()
        if (errors) throw new Error(errors[0].message)
        if (!data.token) throw new Error(`there is no collection ${collection}`)
        setToken(data.token)
      } catch (error) {
        if (!controller.signal.aborted) setProblem(error.message)
      }
    }
    load()
    return () => controller.abort()
  }, [gateway, collection])

  if (!token) return <main>{problem || 'Loading …'}</main>
  return (
    <main>
      <h1>{token.name}</h1>
      <ul className="gallery">
        {token.nfts.nodes.map(({ serialNumber, media }) => (
          <li key={serialNumber}>
            <figure>
              {/* Only an image element: it runs no scripts, whatever the file is. */}
              {media?.image?.url && <img src={new URL(media.image.url, gateway).href} alt={media.name ?? `Serial ${serialNumber}`} />}
              <figcaption>
                <strong>{media?.name ?? `#${serialNumber}`}</strong> {media?.description ?? media?.problem}
                {media?.attributes.map(({ traitType, value }) => (
                  <small key={traitType}>
                    {' '}
                    {traitType}: {value}
                  </small>
                ))}
              </figcaption>
            </figure>
          </li>
        ))}
      </ul>
    </main>
  )
}
