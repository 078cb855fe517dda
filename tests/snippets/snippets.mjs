// Type-checks and runs the code blocks of documents (see blocks.mjs), against the gateway at HELIOGRAPH_URL: commands in a shell, files together as one
// application in Chromium, behind a proxy that closes connections.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import puppeteer from 'puppeteer-core'
import { createServer } from 'vite'
import { read } from './blocks.mjs'
import { startProxy } from './proxy.mjs'

const root = process.env.HELIOGRAPH_ROOT
const gateway = process.env.HELIOGRAPH_URL
const documents = ['docs/clients.md', 'docs/subscriptions.md', 'docs/cookbook.md']
/** Blocks that are not run. More need a reason that convinces a reader. */
const MAX_NOT_RUN = 1

const all = documents.map((document) => read(root, document))
const blocks = all.flatMap(({ blocks }) => blocks)
const problems = all.flatMap(({ problems }) => problems)
const notRun = blocks.filter(({ reason }) => reason)
for (const { at, reason } of notRun) console.log(`${at}: not run: ${reason}`)
if (notRun.length > MAX_NOT_RUN) problems.push(`${notRun.length} blocks are not run, at most ${MAX_NOT_RUN} can be`)
assert.deepEqual(problems, [])

/** Sends a GraphQL request. */
async function query(query, variables, url = gateway) {
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query, variables }) })
  const { data, errors } = await response.json()
  assert.equal(errors, undefined, JSON.stringify(errors))
  return data
}

// The documents of the cookbook. Chat, a subscription, returns its first event.
const cookbook = blocks.filter(({ at, file, reason }) => at.startsWith('docs/cookbook.md') && !file && !reason)
let ran = 0
for (const [i, { at, language, body, variables }] of cookbook.entries()) {
  if (language !== 'graphql') {
    if (language === 'json') JSON.parse(body)
    continue
  }
  assert.ok(cookbook[i + 1]?.variables && !variables, `${at}: no block with variables follows the document`)
  const given = JSON.parse(cookbook[i + 1].body)
  ran++
  if (!body.startsWith('subscription')) {
    await query(body, given).catch((error) => assert.fail(`${at}: ${error.message}`))
    continue
  }
  const ended = new AbortController()
  const response = await fetch(`${gateway}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: body, variables: given }),
    signal: ended.signal,
  })
  let received = ''
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) if ((received += part).includes('data: ')) break
  assert.match(received, /event: next\ndata: \{"data":\{"\w+":\{/, at)
  ended.abort()
}
console.log(`${ran} documents of the cookbook`)

// The files, as one application. Those of the libraries are in the folder heliograph, as the documents say.
const proxy = await startProxy(new URL(gateway), 20_000)
const folder = join(import.meta.dirname, 'project')
rmSync(folder, { recursive: true, force: true })
const located = (text) => text.replaceAll('http://localhost:8080', proxy.url).replaceAll('localhost:8080', new URL(proxy.url).host)
const files = blocks.filter(({ file }) => file)
for (const { file, body } of files) {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), located(body))
}
cpSync(join(import.meta.dirname, 'page/documents.ts'), join(folder, 'src/documents.ts'))
cpSync(join(root, 'examples/clients/generated'), join(folder, 'heliograph'), { recursive: true })

// The commands. npm only checks that this test has the packages, with the versions in its lock file.
const tools = `
npm() { for name in "\${@:2}"; do [[ $name == -* ]] || [ -d ../node_modules/"\${name%@[0-9]*}" ] || { echo "$name is not installed" >&2; return 1; }; done; }
npx() { "$@"; }
`
const env = { ...process.env, PATH: `${join(import.meta.dirname, 'node_modules/.bin')}:${process.env.PATH}` }
const commands = blocks.filter(({ language, reason }) => language === 'sh' && !reason)
for (const { at, body } of commands) {
  await new Promise((resolve, reject) => {
    const shell = spawn('bash', ['-ec', tools + located(body)], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'], timeout: 60_000 })
    let printed = ''
    shell.stderr.on('data', (part) => (printed += part))
    shell.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${at}: exit code ${code}\n${printed}`))))
  })
}
execFileSync('tsc', ['-p', '.'], { cwd: import.meta.dirname, env, stdio: 'inherit' })
console.log(`${commands.length} blocks of commands, ${files.length} files, type-checked`)

// The server of the file for assistants.
const { url: assistants } = JSON.parse(readFileSync(join(folder, 'mcp.json'), 'utf8')).mcpServers.heliograph
const tool = await fetch(assistants, {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
})
assert.match(await tool.text(), /"explain_rest"/)

/** Starts a gateway with an empty database that accepts only the documents of the application, and returns its URL. */
async function startTrusted(data) {
  const args = ['serve', '--demo=off', '--listen=127.0.0.1:0', '--admin-listen=', `--data-dir=${data}`]
  args.push('--trusted-documents', join(folder, 'src/gql/persisted-documents.json'), '--only-trusted-documents=on')
  const server = spawn(join(root, 'bin/heliograph'), args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const url = await new Promise((resolve, reject) => {
    let text = ''
    server.stdout.on('data', (part) => {
      text += part
      const found = /^ *GraphQL *(http:.*)\/graphql$/m.exec(text)
      if (found) resolve(found[1])
    })
    server.on('exit', () => reject(new Error(`the gateway with trusted documents did not start: ${text}`)))
  })
  return { server, url }
}

const data = mkdtempSync(join(tmpdir(), 'heliograph-snippets-'))
execFileSync('chmod', ['755', data]) // the database server may run as another user
const trusted = await startTrusted(join(data, 'data'))
const vite = await createServer({ root: import.meta.dirname, server: { host: '127.0.0.1', port: 0, hmr: false }, logLevel: 'error' })
await vite.listen()
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] })
try {
  const page = await browser.newPage()
  const printed = []
  page.on('pageerror', (error) => printed.push(error.message))
  page.on('console', (message) => printed.push(`${message.type()}: ${message.text()}`))
  await page.goto(`http://127.0.0.1:${vite.httpServer.address().port}/page/`)
  await page.waitForFunction(() => window.snippets, { timeout: 30_000 })
  const until = (condition, ...args) =>
    page.waitForFunction(condition, { timeout: 60_000, polling: 100 }, ...args).catch((error) => {
      throw new Error(`${condition}: ${printed.join('; ')}`, { cause: error })
    })

  // All messages of a topic over the links of src/client.ts, while connections are closed: each once, in order.
  const { topic } = await query('{ topic(id: "0.0.4001") { messages(first: 1, order: DESC) { nodes { sequenceNumber } } } }')
  const last = Number(topic.messages.nodes[0].sequenceNumber)
  proxy.limited = true
  await page.evaluate(() => window.snippets.chat('0.0.4001'))
  await until((n) => window.snippets.numbers.length >= n, last)
  const numbers = await page.evaluate(() => window.snippets.numbers)
  assert.deepEqual(numbers.slice(0, last), Array.from({ length: last }, (_, i) => i + 1))
  const lost = proxy.closed
  assert.ok(lost >= 3, `only ${lost} connections were closed`)
  console.log(`${last} messages with Apollo over ${lost + 1} connections`)

  // All transactions of an account with src/follow.ts, in the same way.
  const account = '0.0.1002'
  const { transactions } = await query('query ($account: AccountRef!) { transactions(filter: { account: $account }, order: ASC, first: 100) { nodes { consensusTimestamp } } }', { account })
  const times = transactions.nodes.map(({ consensusTimestamp }) => consensusTimestamp)
  await page.evaluate((account, url) => window.snippets.follow(account, url), account, proxy.url)
  await until((n) => window.snippets.times.length >= n, times.length)
  assert.deepEqual((await page.evaluate(() => window.snippets.times)).slice(0, times.length), times)
  assert.ok(proxy.closed > lost, 'no connection was closed')
  console.log(`${times.length} transactions with graphql-ws over ${proxy.closed - lost + 1} connections`)

  // A list that stays current with src/useTransfers.ts while its connections are closed, compared with a query.
  const rows = () => page.$$eval('li', (list) => list.map((li) => li.id))
  const busiest = await query('{ transactions(first: 25, order: DESC) { nodes { payerAccountId } } }')
  const payers = busiest.transactions.nodes.map(({ payerAccountId }) => payerAccountId)
  const payer = payers.toSorted((a, b) => payers.filter((p) => p === b).length - payers.filter((p) => p === a).length)[0]
  await page.evaluate((account) => window.snippets.show(account), payer)
  await until(() => document.querySelectorAll('li').length > 0)
  const [before] = await rows()
  const known = (await rows()).length
  await until((n) => document.querySelectorAll('li').length >= n, known + 4)
  proxy.limited = false
  for (let tries = 0; ; tries++) {
    const shown = await rows()
    assert.ok(shown.includes(before), 'the list was replaced')
    const { account } = await query('query ($account: AccountRef!, $first: Int!) { account(id: $account) { transfers(first: $first) { nodes { id } } } }', {
      account: payer,
      first: Math.min(shown.length, 100),
    })
    const want = account.transfers.nodes.map(({ id }) => id)
    if (want.every((id, i) => shown[i] === id)) break
    if (tries === 30) assert.deepEqual(shown, want)
    await new Promise((done) => setTimeout(done, 500))
  }
  console.log(`a list of ${(await rows()).length} rows of ${payer}, ${(await rows()).length - known} of them new`)

  // A download, and documents by their IDs.
  const file = files.find(({ file }) => file.endsWith('.graphql'))
  const { name, text } = await page.evaluate((url, document) => window.snippets.download(url, document, '0.0.1001'), `${gateway}/graphql`, file.body)
  assert.equal(name, 'history.csv')
  assert.match(text, /^consensusTimestampIso,amount,fee,token\.symbol,/)
  const byId = await page.evaluate((url) => window.snippets.byId(url), trusted.url)
  assert.deepEqual(byId, { account: null, subscribed: true })
  await assert.rejects(query('{ gateway { version } }', {}, trusted.url))
  console.log('a download, and documents by their IDs')
  const errors = printed.filter((line) => !/^(log|info|debug): |WebSocket connection to .* failed|Failed to load resource/.test(line))
  assert.deepEqual(errors, [])
} finally {
  await browser.close()
  await vite.close()
  proxy.close()
  trusted.server.kill()
  await new Promise((resolve) => trusted.server.on('exit', resolve))
  rmSync(data, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
