// Opens the page in Chromium, against the gateway at HELIOGRAPH_URL, and waits for new messages. Each must appear once and in order. Then it
// opens the gallery, whose pictures must be shown.
import puppeteer from 'puppeteer-core'
import { preview } from 'vite'

const server = await preview({ preview: { host: '127.0.0.1', port: 0 }, logLevel: 'error' })
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] })
try {
  const page = await browser.newPage()
  const errors = []
  page.on('pageerror', (error) => errors.push(error.message))
  await page.setViewport({ width: 390, height: 844 })
  const address = `http://127.0.0.1:${server.httpServer.address().port}/?gateway=${encodeURIComponent(process.env.HELIOGRAPH_URL)}`
  await page.goto(address)
  await page.waitForSelector('li', { timeout: 20_000 })
  const numbers = () => page.$$eval('li footer', (list) => list.map((f) => Number(f.textContent.match(/#(\d+)/)[1])))
  const before = await numbers()
  await page.waitForFunction((n) => Number(document.querySelector('li footer')?.textContent.match(/#(\d+)/)[1]) >= n, { timeout: 30_000 }, before[0] + 2)
  const after = await numbers()
  if (!after.every((n, i) => i === 0 || after[i - 1] === n + 1)) throw new Error(`messages are not consecutive: ${after}`)
  if ((await page.$eval('[role=status]', (e) => e.textContent)) !== 'Live') throw new Error('the status is not "Live"')
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) throw new Error('the page is wider than the screen')
  await page.goto(`${address}&collection=0.0.2015`)
  await page.waitForFunction(() => [...document.images].length >= 3 && [...document.images].every((i) => i.complete && i.naturalWidth > 0), { timeout: 20_000 })
  const names = await page.$$eval('figcaption strong', (list) => list.map((e) => e.textContent))
  if (!names.includes('Signal flag A')) throw new Error(`the gallery has ${names}`)
  if (errors.length > 0) throw new Error(errors.join('; '))
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT })
  console.log(`received messages ${after.at(-1)} to ${after[0]}, and showed ${names.length} NFTs`)
} finally {
  await browser.close()
  await server.close()
}
