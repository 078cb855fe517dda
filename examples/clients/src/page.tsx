import type { ReactNode } from 'react'

/** Query parameters select the gateway and the account: /apollo.html?gateway=http://localhost:8080&account=0.0.1001 */
const parameters = new URLSearchParams(location.search)
export const endpoint = `${parameters.get('gateway') ?? 'http://localhost:8080'}/graphql`
export const account = parameters.get('account') ?? '0.0.1001'

export interface Row {
  id: string
  consensusTimestampIso: string
  amount: string
  symbol: string
  name: string | undefined
}

/** A list of transfers, with a button for more. */
export function Page({ title, rows, more }: { title: ReactNode; rows: Row[]; more: (() => void) | null }) {
  return (
    <main>
      <h1>{title}</h1>
      <ol>
        {rows.map((row) => (
          <li key={row.id}>
            {row.consensusTimestampIso} {row.name}: {row.amount} {row.symbol}
          </li>
        ))}
      </ol>
      {more && <button onClick={more}>More</button>}
    </main>
  )
}
