import { createServer, connect } from 'node:net'

/** A proxy in front of a gateway. While limited, it closes each WebSocket that has received more than a number of bytes. */
export async function startProxy(target, most) {
  const proxy = { limited: false, closed: 0 }
  const server = createServer((client) => {
    const gateway = connect(Number(target.port), target.hostname)
    let left = most
    let socket = false
    client.once('data', (request) => (socket = /^upgrade: websocket\r$/im.test(request.toString('latin1'))))
    const end = () => {
      client.destroy()
      gateway.destroy()
    }
    client.on('error', end).on('close', end).pipe(gateway)
    gateway.on('error', end).on('close', end).on('data', (data) => {
      client.write(data)
      left -= data.length
      if (proxy.limited && socket && left < 0) {
        proxy.closed++
        end()
      }
    })
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  proxy.url = `http://127.0.0.1:${server.address().port}`
  proxy.close = () => server.close()
  return proxy
}
