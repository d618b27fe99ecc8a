import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { expect } from 'vitest'

/** @param program path of chromium */
export function launchBrowser(program: string): Promise<Browser> {
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
}

/** A page that collects its errors. */
export interface WatchedPage {
  readonly page: Page
  /** Errors of scripts, violations of the content security policy, and requests to other origins. */
  readonly faults: readonly string[]
}

/** Opens a page in a context of its own. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => {
    // The first request without a session is answered with 401, and browsers report it.
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) faults.push(message.text())
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    const here = page.url() === 'about:blank' ? url.origin : new URL(page.url()).origin
    if (url.protocol.startsWith('http') && url.origin !== here) faults.push(`a request to ${url.origin}`)
  })
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error(`content security policy: ${violatedDirective} ${blockedURI}`),
    )
  })
  return { page, faults }
}

/** Signs in by a token. */
export async function signIn(page: Page, { api, token }: { readonly api: string; readonly token: string }, path = ''): Promise<void> {
  await page.goto(`${api}/dashboard/${path}`)
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** The part of the header that says whether the page is live. */
export function liveNote(page: Page, text: RegExp): Locator {
  return page.locator('header.top').getByRole('status').filter({ hasText: text })
}

/** Expects that the page fits into the width of the window: only parts of it may scroll sideways. */
export async function expectNoSideScroll(page: Page): Promise<void> {
  await expect.poll(() => widerThanPage(page), { timeout: 10_000 }).toEqual([])
}

function widerThanPage(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return []
    const isClipped = (element: Element): boolean => {
      for (let parent = element.parentElement; parent !== null; parent = parent.parentElement)
        if (getComputedStyle(parent).overflowX !== 'visible') return true
      return false
    }
    const all = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > clientWidth && !isClipped(one))
    return [`${scrollWidth} > ${clientWidth}`, ...all.map((one) => one.outerHTML.slice(0, 120)).slice(-3)]
  })
}

/** Session of a browser, for further contexts. */
export type BrowserSession = NonNullable<BrowserContextOptions['storageState']>

/** Uses up the one-time link of a stage. @returns the session that it opens */
export async function sessionOfLink(browser: Browser, link: string): Promise<BrowserSession> {
  const context = await browser.newContext()
  await context.request.get(link, { maxRedirects: 0 })
  const session = await context.storageState()
  await context.close()
  return session
}

/** Closes all pages: pages of earlier tests would take part in the stream. */
export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()))
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Checks the page as it is now with axe: WCAG 2.2 A and AA, and best practices. @param within selector of the part to check @default all */
export async function expectAccessible(page: Page, within = 'html'): Promise<void> {
  // The policy of the page forbids scripts from outside; a debugger may evaluate.
  await page.evaluate(axe)
  const findings = await page.evaluate(async (part) => {
    const { axe: checker } = globalThis as unknown as {
      axe: { run(within: string, options: object): Promise<{ violations: Violation[] }> }
    }
    interface Violation {
      readonly id: string
      readonly help: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
    }
    const { violations } = await checker.run(part, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    })
    return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`))
  }, within)
  expect(findings).toEqual([])
}
