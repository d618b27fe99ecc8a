import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumForTests } from '../../scripts/chromium-for-tests.ts'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { AGENTS, createAgents, releaseToPause } from './agent-objects.ts'
import { type BrowserSession, closePages, launchBrowser, openPage, sessionOfLink, signIn } from './browser.ts'
import { type DevStage, startDev } from './dev-stage.ts'
import { type TenantPlace, tenantPages, writeTenantTexts } from './tenant-texts.ts'

const program = await chromiumForTests()
const hasKubectl = kubectlForTests()

let stage: DevStage
let browser: Browser
let session: BrowserSession
let folder: string
/** Pages of an attacker, on another port of the same host: browsers send them cookies of the API. */
let attacker: Server
let attackerUrl: string

describe.skipIf(program === null || !hasKubectl)('an attack on the dashboard', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tranche-attacks-'))
    const options = ['--nodes', '4', '--speed', '10', '--admission', 'none', '--log', join(folder, 'log.jsonl')]
    ;[stage, browser] = await Promise.all([startDev(...options), launchBrowser(program!)])
    attacker = createServer((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Attacker</h1>'))
    attackerUrl = await new Promise<string>((resolve) => {
      attacker.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(attacker.address() as AddressInfo).port}`))
    })
    session = await sessionOfLink(browser, stage.link)
    createAgents(stage, { target: {} })
    releaseToPause(stage, 'target', 'v2')
  }, 240_000)
  afterEach(() => closePages(browser))
  afterAll(async () => {
    await browser?.close()
    attacker?.close()
    stage?.dispose()
    rmSync(folder, { recursive: true, force: true })
  })

  describe('by texts that run as scripts where HTML is made of them', () => {
    beforeAll(() => writeTenantTexts(stage, scriptText), 120_000)

    it.each(tenantPages)('runs nothing, and shows them as text (/$path)', async ({ path, places }) => {
      const { page, faults } = await openPage(browser, { storageState: session })
      const dialogs: string[] = []
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message())
        void dialog.dismiss()
      })
      await page.goto(`${stage.api}/dashboard/${path}`)
      for (const place of places) await page.getByText(coreOf(place)).first().waitFor({ state: 'attached' })
      await openEverything(page)
      expect(await injected(page)).toEqual([])
      expect(dialogs).toEqual([])
      expect(faults).toEqual([])
    })

    it('runs nothing in the dialogs, in the command palette, and in the printed report', async () => {
      const { page, faults } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/rollouts/agents/texts`)
      for (const action of ['Abort…', 'Undo to a revision…', 'Retry']) {
        await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: action }).click()
        await page.getByRole('dialog').getByText('<img src=x').first().waitFor()
        expect(await injected(page)).toEqual([])
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'hidden' })
      }
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').fill('onerror')
      await page.getByRole('option', { name: /texts/ }).waitFor()
      await page.emulateMedia({ media: 'print' })
      expect(await injected(page)).toEqual([])
      expect(faults).toEqual([])
    })
  })

  describe('from a page of another origin in the same browser', () => {
    it('acts neither by a form nor by fetch, reads nothing, and does not log out (CSRF)', async () => {
      const { page } = await openPage(browser, { storageState: session })
      await page.goto(attackerUrl)
      const path = `/api/v1/namespaces/${AGENTS}/rollouts/target/actions/abort`
      expect(await submitForm(page, `${stage.api}${path}`)).toBe(403)
      await page.goto(attackerUrl)
      expect(await submitForm(page, `${stage.api}/logout`)).toBe(403)
      await page.goto(attackerUrl)
      const answers = await page.evaluate(fetchAll, { api: stage.api, path })
      expect(answers).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError'])
      const { actions } = (await stage.get(`namespaces/${AGENTS}/rollouts/target/history`)) as { actions: readonly object[] }
      expect(actions).toEqual([])
      await page.goto(`${stage.api}/dashboard/rollouts/agents/target`)
      await page.getByRole('heading', { level: 1, name: /target/ }).waitFor()
    })

    it('shows no page in a frame (clickjacking)', async () => {
      const { page } = await openPage(browser, { storageState: session })
      for (const path of ['/dashboard/', '/dashboard/rollouts/agents/target', '/docs', '/login/link?code=x']) {
        await page.goto(attackerUrl)
        const refusal = page.waitForEvent('console', (message) => /frame-ancestors|X-Frame-Options/i.test(message.text()))
        await page.evaluate((src) => {
          const frame = document.createElement('iframe')
          frame.src = src
          document.body.append(frame)
        }, `${stage.api}${path}`)
        expect((await refusal).text()).toContain(stage.api)
        expect(await page.frames()[1]?.evaluate(() => location.protocol)).toBe('chrome-error:')
      }
    })
  })

  describe('on credentials', () => {
    it('finds neither token, code nor session in a URL, a referrer, the storage, the page or the log', async () => {
      const { page } = await openPage(browser)
      const urls: string[] = []
      const referrers: string[] = []
      page.on('request', (request) => {
        urls.push(request.url())
        referrers.push(request.headers()['referer'] ?? '')
      })
      await signIn(page, stage, 'rollouts/agents/target')
      await page.getByRole('heading', { level: 1, name: /target/ }).waitFor()
      await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Pause' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      const kept = await page.evaluate(keptByBrowser)
      const cookie = typeof session === 'string' ? '' : (session.cookies[0]?.value ?? '')
      const code = new URL(stage.link).searchParams.get('code') ?? ''
      const log = readFileSync(join(folder, 'log.jsonl'), 'utf8')
      expect(log).toContain('target')
      expect([cookie.length > 40, code.length > 20, stage.token.length > 20]).toEqual([true, true, true])
      for (const secret of [stage.token, cookie, code]) {
        expect(kept).not.toContain(secret)
        expect(log).not.toContain(secret)
        expect(urls.filter((url) => url.includes(secret))).toEqual([])
        expect(referrers.filter((url) => url.includes(secret))).toEqual([])
      }
      await page.reload()
      await page.getByLabel('Token').waitFor()
      expect(await page.getByLabel('Token').inputValue()).toBe('')
    })

    it('gets no session by a link that was used, and says what to do', async () => {
      const { page } = await openPage(browser)
      const response = await page.goto(stage.link)
      expect(response?.status()).toBeGreaterThanOrEqual(400)
      await page.getByRole('heading', { name: 'Not logged in' }).waitFor()
      expect(await page.context().cookies()).toEqual([])
      await page.goto(`${stage.api}/dashboard/`)
      await page.getByLabel('Token').waitFor()
    })

    it('cannot read the session from a script, and a session of a link leaves no code in the history', async () => {
      const { page } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/`)
      await page.getByRole('link', { name: 'target' }).waitFor()
      expect(await page.evaluate(() => document.cookie)).toBe('')
      const [{ httpOnly, sameSite } = {}] = await page.context().cookies()
      expect({ httpOnly, sameSite }).toEqual({ httpOnly: true, sameSite: 'Lax' })
      expect(await page.evaluate(() => [document.referrer, location.href].join(' '))).not.toContain('code=')
    })
  })

  describe('by a user with few rights', () => {
    it('who may only read, sees which rights are missing, and can do nothing', async () => {
      const token = createUser('reader', ['get', 'list'])
      const { page } = await openPage(browser)
      await signIn(page, { ...stage, token }, 'rollouts/agents/target')
      await page.getByText('Read-only: you may not act on this Rollout').click()
      const missing = page.getByText('approve rollouts.rollouts.kruise.io "target" in namespace "agents"')
      await missing.or(page.getByText('resume rollouts.rollouts.kruise.io "target" in namespace "agents"')).first().waitFor()
      const buttons = page.getByRole('region', { name: 'Actions' }).locator('button:not([disabled])')
      expect(await buttons.count()).toBe(0)
    })

    it('loses actions and the fleet within 20 seconds when the rights are withdrawn', async () => {
      const token = createUser('leaver', ['get', 'list', 'pause', 'resume', 'approve'])
      const { page } = await openPage(browser)
      await signIn(page, { ...stage, token }, 'rollouts/agents/target')
      const actions = page.getByRole('region', { name: 'Actions' })
      await actions.getByRole('button', { name: /Resume|Pause/, disabled: false }).click()
      const fleet = await page.context().newPage()
      await signIn(fleet, { ...stage, token })
      await fleet.getByRole('link', { name: 'target' }).waitFor()
      stage.kubectl('-n', AGENTS, 'delete', 'rolebinding', 'leaver')
      // Answers are cached for ten seconds, and streams check every ten seconds.
      await fleet.getByRole('heading', { name: 'No rollouts yet' }).waitFor({ timeout: 25_000 })
      await page.getByRole('heading', { name: 'target is gone' }).waitFor({ timeout: 25_000 })
      const { actions: recorded } = (await stage.get(`namespaces/${AGENTS}/rollouts/target/history`)) as {
        actions: readonly { by: string }[]
      }
      expect(recorded.filter(({ by }) => by.includes('leaver'))).toEqual([])
      await page.getByRole('link', { name: 'Rollouts' }).first().click()
      await page.getByRole('heading', { name: 'No rollouts yet' }).waitFor()
    })
  })
})

/** Code that a browser runs if it takes the text for HTML, for an attribute, or for a script. */
function scriptText(place: TenantPlace): string {
  return `${coreOf(place)}"' onmouseover=alert(3) x=`
}

/** The part of the text that no place escapes. */
function coreOf(place: TenantPlace): string {
  return `${place}<img src=x onerror=alert(1)><svg onload=alert(2)>`
}

/** Opens all parts that are closed at first. */
async function openEverything(page: Page): Promise<void> {
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)))
}

/** Elements that the texts would make, and links that run scripts. */
function injected(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const ours = 'script[src^="/dashboard/assets/"], img[src^="/dashboard/assets/"], img[src^="data:"]'
    const found = document.querySelectorAll(
      `script:not(${ours}), img:not(${ours}), iframe, object, [onerror], [onload], a[href^="javascript:"]`,
    )
    return [...found].map(({ outerHTML }) => outerHTML.slice(0, 200))
  })
}

/** @returns the status of the answer to a form that the attacker's page sends */
async function submitForm(page: Page, action: string): Promise<number | undefined> {
  const [response] = await Promise.all([
    page.waitForNavigation({ url: action }),
    page.evaluate((url) => {
      const form = document.createElement('form')
      Object.assign(form, { method: 'post', action: url, enctype: 'text/plain' })
      const field = document.createElement('input')
      Object.assign(field, { name: '{"reason":"', value: '"}' })
      form.append(field)
      document.body.append(form)
      form.submit()
    }, action),
  ])
  return response?.status()
}

/** Sends requests from the page of the attacker. @returns what its scripts learn of each */
async function fetchAll({ api, path }: { readonly api: string; readonly path: string }): Promise<readonly string[]> {
  const results: string[] = []
  const attempt = async (url: string, init: RequestInit): Promise<void> => {
    results.push(
      await fetch(url, { credentials: 'include', ...init }).then(
        (response) => response.type,
        (error: Error) => error.name,
      ),
    )
  }
  await attempt(`${api}${path}`, { method: 'POST', mode: 'no-cors', body: '{}' })
  await attempt(`${api}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
  await attempt(`${api}${path}`, { method: 'POST', headers: { 'x-csrf-token': 'guess' }, body: '{}' })
  await attempt(`${api}/api/v1/me`, {})
  return results
}

/** Everything that the browser keeps, as text. */
async function keptByBrowser(): Promise<string> {
  const databases = await indexedDB.databases()
  const cached = await caches.keys()
  const { href } = location
  const html = document.documentElement.outerHTML
  return JSON.stringify([
    { ...localStorage },
    { ...sessionStorage },
    document.cookie,
    document.referrer,
    href,
    history.state,
    databases,
    cached,
    html,
    window.name,
  ])
}

/** Creates a service account with verbs on Rollouts. @returns a token of it */
function createUser(name: string, verbs: readonly string[]): string {
  const metadata = { namespace: AGENTS, name }
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata }
  stage.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { ...rbac, kind: 'Role', rules: [{ apiGroups: ['rollouts.kruise.io'], resources: ['rollouts'], verbs }] },
    {
      ...rbac,
      kind: 'RoleBinding',
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    },
  )
  return stage.kubectl('-n', AGENTS, 'create', 'token', name).trim()
}
