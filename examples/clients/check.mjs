// Opens both pages in Chromium, against the gateway at HELIOGRAPH_URL, and loads a second page of the list. The console must stay empty.
import puppeteer from 'puppeteer-core'
import { createServer } from 'vite'

// The development builds of the libraries print warnings. Without hot replacement, Vite itself prints nothing.
const server = await createServer({ server: { host: '127.0.0.1', port: 0, hmr: false }, logLevel: 'error' })
await server.listen()
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] })
try {
  for (const name of ['apollo', 'relay']) {
    const page = await browser.newPage()
    const printed = []
    page.on('pageerror', (error) => printed.push(error.message))
    page.on('console', (message) => printed.push(`${message.type()}: ${message.text()}`))
    await page.goto(`http://127.0.0.1:${server.httpServer.address().port}/${name}.html?gateway=${encodeURIComponent(process.env.HELIOGRAPH_URL)}`)
    const rows = (n) => page.waitForFunction((n) => document.querySelectorAll('li').length === n, { timeout: 30_000 }, n)
    try {
      await rows(5)
      await page.click('button')
      await rows(10)
    } catch (error) {
      throw new Error(`${name}: ${await page.evaluate(() => document.body.innerText)}; ${printed.join('; ')}`, { cause: error })
    }
    const texts = await page.$$eval('li', (list) => list.map((li) => li.textContent))
    if (new Set(texts).size !== 10) throw new Error(`${name} shows a transfer twice: ${texts.join('; ')}`)
    const title = await page.$eval('h1', (h) => h.textContent)
    if (!title.includes('Alice')) throw new Error(`${name}: the title is ${title}`)
    // Vite's client and React print hints for developers at the level "info" or "debug".
    const warnings = printed.filter((line) => !/^(info|debug): /.test(line))
    if (warnings.length > 0) throw new Error(`${name}: ${warnings.join('; ')}`)
    console.log(`${name}: two pages of transfers, no warnings`)
  }
} finally {
  await browser.close()
  await server.close()
}
