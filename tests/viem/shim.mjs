// A minimal JSON-RPC server for viem on top of the gateway's REST API: a relay without transactions.
import { createServer } from 'node:http'

const tinybar = 10n ** 10n // in weibars, the unit in JSON-RPC

const hex = (n) => `0x${BigInt(n).toString(16)}`

class RPCError extends Error {
  constructor(code, message, data) {
    super(message)
    Object.assign(this, { code, data })
  }
}

async function ask(gateway, path, body) {
  const response = await fetch(`${gateway}/api/v1${path}`, body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
  const answer = await response.json()
  if (response.ok) return answer
  const [{ message, detail, data }] = answer._status.messages
  if (message === 'CONTRACT_REVERT_EXECUTED') throw new RPCError(3, `execution reverted: ${detail}`, data)
  throw new RPCError(-32000, `${message}: ${detail}`)
}

function call(gateway, { to, from, data, input, gas, value }, block, estimate) {
  const body = { to, from, data: data ?? input, block: block ?? 'latest', estimate }
  if (gas) body.gas = Number(gas)
  if (value) body.value = Number(BigInt(value) / tinybar)
  return ask(gateway, '/contracts/call', body)
}

const methods = {
  eth_chainId: () => hex(0x128),
  eth_blockNumber: async (gateway) => hex((await ask(gateway, '/blocks?limit=1&order=desc')).blocks[0].number),
  eth_call: async (gateway, [tx, block]) => (await call(gateway, tx, block, false)).result,
  eth_estimateGas: async (gateway, [tx, block]) => hex((await call(gateway, tx, block, true)).result),
  eth_getBalance: async (gateway, [address]) => hex(BigInt((await ask(gateway, `/accounts/${address}?transactions=false`)).balance.balance) * tinybar),
  eth_getCode: async (gateway, [address]) => (await ask(gateway, `/contracts/${address}`)).runtime_bytecode,
  eth_getStorageAt: async (gateway, [address, slot]) => {
    const { state } = await ask(gateway, `/contracts/${address}/state?slot=${slot}`)
    return state.length > 0 ? state[0].value : `0x${'0'.repeat(64)}`
  },
}

// serve starts the server on a free loopback port and resolves to its URL.
export function serve(gateway) {
  const answer = async ({ id, method, params }) => {
    try {
      if (!methods[method]) throw new RPCError(-32601, `method ${method} not found`)
      return { jsonrpc: '2.0', id, result: await methods[method](gateway, params ?? []) }
    } catch (e) {
      return { jsonrpc: '2.0', id, error: { code: e.code ?? -32603, message: e.message, data: e.data } }
    }
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const asked = JSON.parse(body)
    const answered = Array.isArray(asked) ? await Promise.all(asked.map(answer)) : await answer(asked)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answered))
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }))
  })
}
