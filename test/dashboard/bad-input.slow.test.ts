import type { Browser, Locator, Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumForTests } from '../../scripts/chromium-for-tests.ts'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { AGENTS, createAgents, releaseToPause, setVersion } from './agent-objects.ts'
import { type BrowserSession, closePages, expectNoSideScroll, launchBrowser, liveNote, openPage, sessionOfLink, signIn } from './browser.ts'
import { type DevStage, startDev } from './dev-stage.ts'
import { type FaultyRelay, startRelay } from './faulty-relay.ts'
import { type TenantPlace, tenantPages, writeTenantTexts } from './tenant-texts.ts'

const program = await chromiumForTests()
const hasKubectl = kubectlForTests()

let stage: DevStage
let browser: Browser
let relay: FaultyRelay
let session: BrowserSession

describe.skipIf(program === null || !hasKubectl)('the dashboard', () => {
  beforeAll(async () => {
    ;[stage, browser] = await Promise.all([startDev('--nodes', '4', '--speed', '10', '--admission', 'none'), launchBrowser(program!)])
    relay = await startRelay(stage.api)
    session = await sessionOfLink(browser, stage.link)
    createAgents(stage, {
      steady: {},
      moved: {},
      lost: {},
      timed: { steps: [{ replicas: 1, pause: { duration: 900 } }, { replicas: '100%' }] },
    })
    for (const name of ['steady', 'moved', 'lost', 'timed']) releaseToPause(stage, name, 'v2')
  }, 240_000)
  afterEach(async () => {
    await relay.mend()
    await closePages(browser)
  })
  afterAll(async () => {
    await browser?.close()
    await relay?.dispose()
    stage?.dispose()
  })

  describe('without an API', () => {
    it('keeps its data on the screen, says since when they are old, and continues by itself', async () => {
      const { page } = await openRelayed('rollouts/agents/steady')
      await page.locator('.facts').getByText('v2').first().waitFor()
      await relay.refuse()
      await liveNote(page, /Reconnecting: data of .* old/).waitFor()
      await expect.poll(() => page.title()).toContain('not live')
      expect(await page.getByRole('heading', { level: 1, name: /steady/ }).isVisible()).toBe(true)
      stage.kubectl('-n', AGENTS, 'annotate', 'daemonset/steady', 'note=changed')
      setVersion(stage, 'steady', 'v3')
      await relay.accept()
      await liveNote(page, /Live/).waitFor()
      await page.locator('.facts').getByText('v3').first().waitFor()
      expect(await page.title()).not.toContain('not live')
    })

    it('shows why an action was not sent, keeps its reason, and sends it once the API is back', async () => {
      const { page } = await openRelayed('rollouts/agents/moved')
      const dialog = await openAction(page, 'Pause', 'a reason worth keeping')
      await relay.refuse()
      await dialog.getByRole('button', { name: 'Pause' }).click()
      await dialog.getByRole('alert').getByText('The Tranche API does not answer').waitFor()
      expect(await dialog.getByLabel('Reason').inputValue()).toBe('a reason worth keeping')
      await relay.accept()
      await dialog.getByRole('button', { name: 'Pause' }).click()
      await dialog.waitFor({ state: 'detached' })
      await resume(page)
    })

    it('loads a view that could not be loaded before', async () => {
      const { page } = await openRelayed('')
      await relay.refuse()
      await page.getByRole('link', { name: 'steady' }).click()
      await page.getByRole('heading', { name: 'This view failed' }).waitFor()
      await relay.accept()
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('heading', { level: 1, name: /steady/ }).waitFor()
    })

    it('shows a view without a part that could not be loaded, and loads the part when asked', async () => {
      const page = await openWithoutDiff()
      expect(await page.getByRole('heading', { level: 1, name: /steady/ }).isVisible()).toBe(true)
      await page.unroute('**/template-diff*')
      await page.getByRole('button', { name: 'Try again' }).click()
      await templateDiff(page).waitFor()
    })

    it('keeps an open dialog while a part cannot be loaded, and loads the part by itself once the API is back', async () => {
      const page = await openWithoutDiff()
      const dialog = await openAction(page, 'Pause', 'a reason worth keeping')
      await relay.refuse()
      await liveNote(page, /Reconnecting/).waitFor()
      await page.unroute('**/template-diff*')
      await relay.accept()
      await templateDiff(page).waitFor()
      expect(await dialog.getByLabel('Reason').inputValue()).toBe('a reason worth keeping')
    })

    it('offers a second attempt at the start', async () => {
      const { page } = await openPage(browser)
      await page.route('**/api/v1/me', (route) => route.abort('connectionrefused'))
      await page.goto(`${stage.api}/dashboard/rollouts/agents/steady`)
      await page.getByRole('alert').getByText('The Tranche API does not answer').waitFor()
      await page.unroute('**/api/v1/me')
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('alert').waitFor({ state: 'detached' })
    })
  })

  describe('with a stalled stream', () => {
    it.each(['nothing', 'head'] as const)('is never stale silently when a new stream sends %s', async (how) => {
      const { page } = await openRelayed('rollouts/agents/steady', { hasClock: true })
      relay.stallStreams(how)
      await page.clock.fastForward(25_000)
      const note = liveNote(page, /Reconnecting: data of/)
      await note.waitFor()
      const first = dataOf(await note.innerText())
      const reopened = relay.nextStream()
      await page.clock.runFor(5_000)
      await reopened
      await page.clock.fastForward(25_000)
      await note.waitFor()
      // The time of the last data, not that of the last attempt.
      expect(dataOf(await note.innerText())).toBe(first)
      relay.flow()
      await page.clock.fastForward(40_000)
      await liveNote(page, /Live/).waitFor()
    })
  })

  describe('when the session ends', () => {
    it('asks for another sign-in, and returns to the same page with its filters', async () => {
      const { page } = await openRelayed('rollouts/agents/steady?state=old&table=true')
      await page.getByRole('button', { name: /old/, pressed: true }).waitFor()
      const url = page.url()
      await page.route('**/api/v1/**', (route) => problem(route, 401, 'TOKEN_INVALID'))
      relay.cutStreams()
      await page.getByText('Your session has ended').waitFor()
      expect(await page.getByRole('heading', { name: /steady/ }).count()).toBe(0)
      await page.unroute('**/api/v1/**')
      await page.getByLabel('Token').fill(stage.token)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: /old/, pressed: true }).waitFor()
      expect(page.url()).toBe(url)
    })

    it('shows nothing more as soon as a user signs out while the API does not answer', async () => {
      const { page } = await openPage(browser)
      await signIn(page, { api: relay.url, token: stage.token })
      await page.getByRole('link', { name: 'steady' }).waitFor()
      await page.route('**/login-methods', () => {})
      await page.locator('details.user summary').click()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByText('You are signed out').waitFor({ timeout: 2_000 })
      expect(await page.getByRole('link', { name: 'steady' }).count()).toBe(0)
    })

    it('asks for another sign-in also when an action finds out', async () => {
      const { page } = await openRelayed('rollouts/agents/steady')
      const dialog = await openAction(page, 'Pause', '')
      await page.route('**/actions/pause*', (route) => problem(route, 401, 'TOKEN_INVALID'))
      await dialog.getByRole('button', { name: 'Pause' }).click()
      await page.getByText('Your session has ended').waitFor()
    })
  })

  describe('with an action that the API refuses', () => {
    it('says why, keeps the reason, and can send the action again', async () => {
      const { page } = await openRelayed('rollouts/agents/moved')
      const dialog = await openAction(page, 'Pause', 'a reason worth keeping')
      const confirm = dialog.getByRole('button', { name: 'Pause' })
      const keys = new Set<string | undefined>()
      for (const { status, code, attempts } of refusals) {
        let sent = 0
        await page.route('**/actions/pause*', (route) => {
          sent += 1
          keys.add(route.request().headers()['idempotency-key'])
          return problem(route, status, code)
        })
        await confirm.click()
        await dialog.getByRole('alert').getByText(`the detail of ${code}`).waitFor()
        expect(await dialog.getByText('the-request-id').isVisible()).toBe(true)
        expect(await dialog.getByLabel('Reason').inputValue()).toBe('a reason worth keeping')
        expect([code, sent]).toEqual([code, attempts])
        await page.unroute('**/actions/pause*')
      }
      // The same action: the server must not carry out two.
      expect(keys.size).toBe(1)
      await confirm.click()
      await dialog.waitFor({ state: 'detached' })
      await resume(page)
    })

    it('warns that the release has moved on, and does nothing (409 MOVED_ON)', async () => {
      const { page } = await openRelayed('rollouts/agents/moved')
      const dialog = await openAction(page, 'Approve', 'seen')
      expect(await stage.act('agents/moved', 'approve', { expectedStep: 1 })).toBe(200)
      await dialog.getByRole('alert').getByText('The release has moved on').waitFor()
      await dialog.getByRole('button', { name: 'Approve' }).click()
      await dialog.getByRole('alert').getByText('Nothing was done').waitFor()
      expect(await dialog.getByLabel('Reason').inputValue()).toBe('seen')
    })
  })

  it('says that a Rollout is gone when it is deleted while the page shows it', async () => {
    const { page, faults } = await openRelayed('rollouts/agents/lost')
    const dialog = await openAction(page, 'Pause', 'too late')
    stage.kubectl('-n', AGENTS, 'delete', 'rollout', 'lost')
    await page.getByRole('heading', { name: 'lost is gone' }).waitFor()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'All rollouts' }).click()
    await page.getByRole('link', { name: 'steady' }).waitFor()
    expect(await page.getByRole('link', { name: 'lost' }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  it.each([
    { what: 'an hour ahead', byMs: 3_600_000 },
    { what: 'an hour behind', byMs: -3_600_000 },
  ])('shows the right ages and countdowns when the clock of the browser is $what', async ({ byMs }) => {
    const { page } = await openPage(browser, { storageState: session })
    await page.clock.install({ time: Date.now() + byMs })
    await page.goto(`${relay.url}/dashboard/rollouts/agents/timed`)
    const { remaining, createdAt } = (await stage.get('namespaces/agents/rollouts/timed')) as {
      remaining: { until: string }
      createdAt: string
    }
    const countdown = page.getByText('The pause ends in').locator('time')
    await countdown.waitFor()
    const leftMs = Date.parse(remaining.until) - Date.now()
    expect(Math.abs(durationMs(await countdown.innerText()) - leftMs)).toBeLessThan(6_000)
    await page.getByRole('link', { name: 'Rollouts' }).first().click()
    const since = page.getByRole('row', { name: /timed/ }).locator('[data-label="Since"] time')
    expect(durationMs(await since.innerText())).toBeLessThan(Date.now() - Date.parse(createdAt) + 6_000)
    await relay.refuse()
    const note = liveNote(page, /Reconnecting: data of/)
    await note.waitFor()
    expect(durationMs(/, (.*) old/.exec(await note.innerText())![1]!)).toBeLessThan(60_000)
  })

  describe('with long, right-to-left and HTML texts of a tenant', () => {
    beforeAll(() => writeTenantTexts(stage, longText), 120_000)

    it.each(tenantPages)('shows them as text, and keeps its layout (/$path)', async ({ path, places }) => {
      const { page, faults } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/${path}`)
      await page.getByRole('main').waitFor()
      for (const place of places) await page.getByText(`{${place}}`).first().waitFor({ state: 'attached' })
      const shown = await page.getByRole('main').textContent()
      expect(places.filter((place) => !shown?.includes(`{${place}} <b>bold`))).toEqual([])
      expect(await page.locator('main b').count()).toBe(0)
      expect(await unisolatedTexts(page)).toEqual([])
      for (const width of [1_280, 360]) {
        await page.setViewportSize({ width, height: 800 })
        await expectNoSideScroll(page)
      }
      expect(faults).toEqual([])
    })
  })
})

/** Answers to an action, and how often the client tries it. */
const refusals = [
  { status: 403, code: 'ACCESS_DENIED', attempts: 1 },
  { status: 409, code: 'ACTION_PENDING', attempts: 1 },
  { status: 409, code: 'ACTION_REJECTED', attempts: 1 },
  { status: 422, code: 'IDEMPOTENCY_KEY_REUSED', attempts: 1 },
  { status: 429, code: 'RATE_LIMITED', attempts: 4 },
  { status: 503, code: 'NOT_READY', attempts: 4 },
  { status: 500, code: 'INTERNAL', attempts: 1 },
]

/** Turns the direction of all following text around, unless something isolates it. */
const TURN = '\u202e'

/** Limits of Kubernetes and of the record, in bytes; elsewhere a text has 10,000. */
const limits: Partial<Readonly<Record<TenantPlace, number>>> = {
  'field manager': 128,
  'event message': 1_024,
  'event reason': 128,
  'action user': 1_000,
  'action reason': 2_000,
  'action address': 1_000,
}

function longText(place: TenantPlace): string {
  const text = `{${place}} <b>bold שלום `
  const bytes = limits[place] ?? 10_000
  // The API server allows only printable characters in names of field managers.
  const turn = place === 'field manager' ? '' : TURN
  return `${text}${turn}${'W'.repeat(bytes - Buffer.byteLength(text + turn))}`
}

/** Finds texts that turn other text around: they share a line with it, and nothing isolates them. */
function unisolatedTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const isInline = (element: Element): boolean => getComputedStyle(element).display.startsWith('inline')
    const isIsolated = (element: Element): boolean => /isolate|plaintext/.test(getComputedStyle(element).unicodeBidi)
    const isAlone = (block: Element | null, text: string): boolean => {
      const others = [...(block?.childNodes ?? [])].filter((node) => !(node instanceof Element && node.matches('.visually-hidden')))
      return (
        others
          .map((node) => node.textContent)
          .join('')
          .trim() === text.trim()
      )
    }
    const found: string[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const text = node.nodeValue ?? ''
      let element = node.parentElement
      if (!/[\u0590-\u05ff\u202e]/.test(text) || element === null || element.closest('option') !== null) continue
      const parent = element
      while (element !== null && isInline(element) && !isIsolated(element)) element = element.parentElement
      if (element === null || (isInline(element) ? !isIsolated(element) : !isAlone(element, text)))
        found.push(parent.outerHTML.slice(0, 80))
    }
    return found
  })
}

async function openRelayed(path: string, { hasClock = false } = {}): Promise<Awaited<ReturnType<typeof openPage>>> {
  const opened = await openPage(browser, { storageState: session })
  if (hasClock) await opened.page.clock.install()
  await opened.page.goto(`${relay.url}/dashboard/${path}`)
  await liveNote(opened.page, /Live/).waitFor()
  await opened.page.getByRole('heading', { level: 1 }).waitFor()
  return opened
}

/** Opens a Rollout whose comparison of templates cannot be loaded. */
async function openWithoutDiff(): Promise<Page> {
  const { page } = await openPage(browser, { storageState: session })
  await page.route('**/template-diff*', (route) => route.abort('connectionrefused'))
  await page.goto(`${relay.url}/dashboard/rollouts/agents/steady`)
  await page.getByRole('alert').getByText('Something went wrong').waitFor()
  return page
}

function templateDiff(page: Page): Locator {
  return page.getByLabel('Changed lines of the pod template')
}

/** Opens the dialog of an action, and gives a reason. */
async function openAction(page: Page, action: string, reason: string): Promise<Locator> {
  await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: action }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill(reason)
  return dialog
}

async function resume(page: Page): Promise<void> {
  const dialog = await openAction(page, 'Resume', '')
  await dialog.getByRole('button', { name: 'Resume' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Pause' }).waitFor()
}

function problem(route: Route, status: number, code: string): Promise<void> {
  const body = {
    type: `/errors/${code}`,
    title: `the title of ${code}`,
    status,
    code,
    detail: `the detail of ${code}`,
    instance: 'the-request-id',
  }
  return route.fulfill({ status, contentType: 'application/problem+json', body: JSON.stringify(body) })
}

/** @returns the time of the data that a note about stale data names */
function dataOf(note: string): string {
  return /data of (.*),/.exec(note)?.[1] ?? note
}

/** @param text as the page shows it: `59s`, `4m 05s`, `2h 10m` */
function durationMs(text: string): number {
  const units = { d: 86_400, h: 3_600, m: 60, s: 1 }
  return [...text.replace(/\(.*/, '').matchAll(/(\d+)([dhms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * units[unit as 'd'] * 1_000,
    0,
  )
}
