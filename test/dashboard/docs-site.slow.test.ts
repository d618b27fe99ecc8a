import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumForTests } from '../../scripts/chromium-for-tests.ts'
import { buildSite } from '../../scripts/site/build.ts'
import { closePages, expectAccessible, expectNoSideScroll, launchBrowser, openPage } from './browser.ts'

const program = await chromiumForTests()
const repository = 'https://git.example.com/tranche/blob/main/'
const questions = [...readFileSync('docs/faq.md', 'utf8').matchAll(/^## (.+)$/gm)].map(([, question = '']) => question).slice(0, 10)

let folder: string
let server: Server | undefined
let site: string
let browser: Browser | undefined

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-site-'))
  await buildSite({ version: 'next', base: '/docs/', repository, out: folder })
  const started = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname.replace(/^\/docs/, '').replace(/\/$/, '/index.html')
    const file = join(folder, path)
    if (!existsSync(file)) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(readFileSync(file))
  })
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  site = `http://127.0.0.1:${(started.address() as AddressInfo).port}/docs/`
  if (program !== null) browser = await launchBrowser(program)
}, 300_000)

afterEach(async () => {
  if (browser !== undefined) await closePages(browser)
})

afterAll(async () => {
  await browser?.close()
  server?.close()
  rmSync(folder, { recursive: true })
})

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.png': 'image/png',
}

describe('the built site', () => {
  it('has a page for each page of docs', () => {
    const sources = globSync('**/*.md', { cwd: 'docs' }).map((path) => path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'))
    expect(sources.filter((path) => !existsSync(join(folder, 'next', path)))).toEqual([])
  })

  it('has no dead link: each leads to a page, an existing anchor, or an existing file of the repository', () => {
    const pages = globSync('**/*.html', { cwd: join(folder, 'next') }).filter((path) => path !== '404.html')
    const anchors = new Map(pages.map((path) => [path, anchorsIn(readFileSync(join(folder, 'next', path), 'utf8'))]))
    const links = pages.flatMap((path) => linksIn(path).map((href) => ({ path, href })))
    expect(links.length).toBeGreaterThan(2_000)
    expect(links.filter(({ path, href }) => isDead(path, href, anchors))).toEqual([])
  })

  it('has the license texts of the libraries in it, and nothing of the build', () => {
    const licenses = readFileSync(join(folder, 'next/licenses.txt'), 'utf8')
    for (const library of ['vue', 'vitepress', 'minisearch', '@mermaid-js/tiny'])
      expect(licenses).toMatch(new RegExp(`^${library} [\\d.]+ \\(MIT\\)$`, 'm'))
    expect(existsSync(join(folder, 'next/modules.json'))).toBe(false)
  })

  it('leads from its root to the version', () => {
    expect(JSON.parse(readFileSync(join(folder, 'versions.json'), 'utf8'))).toEqual(['next'])
    expect(readFileSync(join(folder, 'index.html'), 'utf8')).toContain('url=./next/')
  })
})

describe.skipIf(program === null)('in a browser', () => {
  const cases = ['', 'faq.html', 'guides/simulator.html'].flatMap((path) =>
    ['light' as const, 'dark' as const].map((scheme) => ({ path, scheme })),
  )

  it.each(cases)('"$path" has no finding of axe in $scheme, and no errors', async ({ path, scheme }) => {
    const { page, faults } = await openPage(browser!, { colorScheme: scheme })
    await page.goto(`${site}next/${path}`, { waitUntil: 'networkidle' })
    await expectAccessible(page)
    expect(faults).toEqual([])
  })

  it.each(['', 'faq.html', 'guides/simulator.html', 'reference/release-phases.html', 'reference/commands.html'])(
    '"%s" does not scroll sideways at 360 px',
    async (path) => {
      const { page } = await openPage(browser!, { viewport: { width: 360, height: 800 } })
      await page.goto(`${site}next/${path}`, { waitUntil: 'networkidle' })
      await expectNoSideScroll(page)
    },
  )

  it('opens another version from the menu, which lists versions that were built later too', async () => {
    const { page } = await openPage(browser!)
    await page.route('**/docs/versions.json', (route) => route.fulfill({ json: ['0.1', 'next'] }))
    await page.route('**/docs/0.1/', (route) => route.fulfill({ body: 'the pages of 0.1' }))
    await page.goto(`${site}next/faq.html`)
    const menu = page.locator('.VPNavBar').getByLabel('Version')
    await expect.poll(() => menu.locator('option').allTextContents(), { timeout: 10_000 }).toEqual(['0.1', 'next'])
    expect(await menu.inputValue()).toBe('next')
    await menu.selectOption('0.1')
    await page.waitForURL(`${site}0.1/`)
  })

  it('draws every diagram of a page', async () => {
    const { page, faults } = await openPage(browser!)
    await page.goto(`${site}next/reference/release-phases.html`)
    await expect.poll(() => page.locator('.site-diagram svg').count(), { timeout: 20_000 }).toBe(6)
    expect(faults).toEqual([])
  })

  it('plays the recording of the demo from its start to its end', async () => {
    const { page } = await openPage(browser!)
    await page.goto(`${site}next/guides/simulator.html`)
    const screen = page.locator('.cast-screen')
    await expect.poll(() => screen.textContent(), { timeout: 10_000 }).toContain('is Healthy: 30 of 30 nodes updated')
    await page.getByRole('slider', { name: 'Position' }).fill('0')
    await expect.poll(() => screen.textContent(), { timeout: 10_000 }).toBe('$ tranche dev --demo --exit\n')
    await page.getByRole('button', { name: 'Play' }).click()
    await expect.poll(() => screen.textContent(), { timeout: 10_000 }).toContain('step 1 of 3')
  })

  it('finds the frequent questions by their words, among the first three results', async () => {
    expect(questions).toHaveLength(10)
    const { page } = await openPage(browser!)
    await page.goto(`${site}next/`, { waitUntil: 'networkidle' })
    await page.keyboard.press('Control+k')
    const box = page.getByRole('searchbox')
    const results = page.locator('.VPLocalSearchBox .result')
    for (const question of questions) {
      await box.fill(question)
      await expect
        .poll(async () => (await results.allTextContents()).slice(0, 3).some((text) => text.includes(question)), {
          message: question,
          timeout: 10_000,
        })
        .toBe(true)
    }
  })
})

function linksIn(page: string): readonly string[] {
  const html = readFileSync(join(folder, 'next', page), 'utf8')
  return [...html.matchAll(/<a [^>]*?href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))
}

function anchorsIn(html: string): ReadonlySet<string> {
  return new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id))
}

function isDead(page: string, href: string, anchors: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  if (href.startsWith(repository)) return !existsSync(href.slice(repository.length).split('#')[0] ?? '')
  if (/^[a-z]+:/.test(href)) return false
  const { pathname, hash } = new URL(href, `http://site/docs/next/${page}`)
  const path = pathname.replace('/docs/next/', '').replace(/(^|\/)$/, '$1index.html')
  const target = anchors.get(path)
  if (target === undefined) return !existsSync(join(folder, 'next', path))
  return hash !== '' && !target.has(decodeURIComponent(hash.slice(1)))
}
