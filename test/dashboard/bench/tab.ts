/** A tab of the dashboard whose requests are counted. */
import type { Browser, BrowserContextOptions, CDPSession, Page, Request } from 'playwright-core'

/** Server and user of a tab. */
export interface TabUser {
  readonly api: string
  readonly token: string
}

/** An open tab. */
export interface Tab {
  readonly page: Page
  readonly devtools: CDPSession
  /** Streams that are open now. */
  readonly openStreams: () => number
  /** Most streams that were open at the same time. */
  readonly mostStreams: () => number
  /** Paths with queries of all requests to the API so far, in order. */
  readonly requests: readonly string[]
  /** Opens another place of the dashboard by loading the page. */
  open(path: string): Promise<void>
  close(): Promise<void>
}

/** Opens a tab that is signed in from the start, as with a session. */
export async function openTab(browser: Browser, { api, token }: TabUser, options: BrowserContextOptions = {}): Promise<Tab> {
  const headers = { authorization: `Bearer ${token}` }
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, extraHTTPHeaders: headers, ...options })
  const page = await context.newPage()
  const streams = new Set<Request>()
  const requests: string[] = []
  let most = 0
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (!pathname.startsWith('/api/')) return
    requests.push(pathname + search)
    if (pathname === '/api/v1/stream') streams.add(request)
  })
  // Counted once the server has accepted a stream: the end of the one that it replaces is reported later than its request.
  page.on('response', (response) => {
    if (streams.has(response.request())) most = Math.max(most, streams.size)
  })
  page.on('requestfinished', (request) => streams.delete(request))
  page.on('requestfailed', (request) => streams.delete(request))
  return {
    page,
    devtools: await context.newCDPSession(page),
    openStreams: () => streams.size,
    mostStreams: () => most,
    requests,
    open: async (path) => void (await page.goto(`${api}/dashboard/${path}`)),
    close: () => context.close(),
  }
}
