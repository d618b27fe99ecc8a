import { execFileSync } from 'node:child_process'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumForTests } from '../../scripts/chromium-for-tests.ts'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { AGENTS, createAgents, leftBehind, releaseToPause, setVersion, waitFor } from './agent-objects.ts'
import { type BrowserSession, closePages, launchBrowser, openPage, sessionOfLink } from './browser.ts'
import { type DevStage, startDev } from './dev-stage.ts'

const program = await chromiumForTests()
const hasKubectl = kubectlForTests()

let stage: DevStage
let browser: Browser
let session: BrowserSession

const threeSteps = [
  { replicas: 1, pause: {} },
  { replicas: 2, pause: {} },
  { replicas: '100%', pause: {} },
]

describe.skipIf(program === null || !hasKubectl)('a person at the dashboard', () => {
  beforeAll(async () => {
    ;[stage, browser] = await Promise.all([startDev('--nodes', '6', '--speed', '10', '--no-demo'), launchBrowser(program!)])
    session = await sessionOfLink(browser, stage.link)
    const waiting = ['approved', 'halted', 'promoted', 'jumped', 'aborted', 'typed']
    createAgents(stage, {
      ...Object.fromEntries(waiting.map((name) => [name, { steps: threeSteps }])),
      crashing: {},
      retried: {},
      calm: {},
    })
    for (const name of ['crashing', 'retried']) setVersion(stage, name, 'v2-bad-crash')
    for (const name of waiting) releaseToPause(stage, name, 'v2')
    for (const name of ['crashing', 'retried']) waitFor(stage, `rollout/${name}`, '{.status.failure.stops}=true')
  }, 240_000)
  afterEach(() => closePages(browser))
  afterAll(async () => {
    await browser?.close()
    stage?.dispose()
  })

  it('finds nodes, reason and exit code of a crash-looping version, and rolls it back, in at most four clicks', async () => {
    const { page, faults } = await openPage(browser, { storageState: session })
    let clicks = 0
    await page.exposeFunction('countClick', () => (clicks += 1))
    await page.addInitScript(() => {
      const { countClick } = globalThis as unknown as { countClick(): void }
      addEventListener('pointerdown', () => countClick(), true)
    })
    await page.goto(`${stage.api}/dashboard/`)
    await page.getByRole('link', { name: 'crashing' }).click()
    const unwell = page.getByRole('region', { name: 'Not well' })
    await unwell.getByRole('heading', { name: /CrashLoopBackOff/ }).waitFor()
    await unwell.getByText('exit code 1').waitFor()
    const nodes = await unwell.getByRole('link').allInnerTexts()
    expect(nodes.length).toBeGreaterThan(0)
    await act(page, 'Abort…', { name: 'crashing' })
    waitFor(stage, 'rollout/crashing', '{.status.phase}=Healthy')
    await page.getByText('Every node is well').waitFor()
    expect(imagesOf('crashing')).toEqual(['registry.example/crashing:v1'])
    expect(clicks).toBeLessThanOrEqual(4)
    expect(faults).toEqual([])
  })

  describe('acts by a click', () => {
    it('approves a step, with a reason that the history keeps', async () => {
      const page = await open('approved')
      await act(page, 'Approve', { reason: 'the first node is well' })
      await page.getByText('step 2 of 3', { exact: false }).first().waitFor()
      await page.getByRole('region', { name: 'History' }).getByText('the first node is well').waitFor()
      expect(await recordOf('approved')).toEqual([{ type: 'approve', by: 'dev', reason: 'the first node is well', expectedStep: 1 }])
    })

    it('pauses and resumes', async () => {
      const page = await open('halted')
      await act(page, 'Pause', { reason: 'lunch' })
      await page.getByRole('heading', { level: 1, name: /Paused/ }).waitFor()
      await act(page, 'Resume', {})
      await page.getByRole('heading', { level: 1, name: /Waiting/ }).waitFor()
      expect((await recordOf('halted')).map(({ type }) => type)).toEqual(['pause', 'resume'])
    })

    it('promotes in full, but only after typing the name, and rolls back to an earlier revision', async () => {
      const page = await open('promoted')
      await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Promote…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Also skip soak and analysis').check()
      await dialog.getByLabel(/^Type/).fill('promote')
      expect(await dialog.getByRole('button', { name: 'Promote' }).isDisabled()).toBe(true)
      await dialog.getByLabel(/^Type/).fill('promoted')
      await dialog.getByRole('button', { name: 'Promote' }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('heading', { level: 1, name: /Done/ }).waitFor()
      expect((await recordOf('promoted'))[0]).toMatchObject({ type: 'promote', full: true })
      expect(imagesOf('promoted')).toEqual(['registry.example/promoted:v2'])
      await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Undo to a revision…' }).click()
      await page.getByRole('dialog').getByRole('radio', { name: /v1/ }).check()
      await confirm(page.getByRole('dialog'), 'Undo to a revision', 'promoted')
      await page.getByRole('heading', { level: 1, name: /Waiting/ }).waitFor()
      expect((await recordOf('promoted')).map(({ type }) => type)).toEqual(['promote', 'undo'])
    })

    it('jumps to a step that they choose', async () => {
      const page = await open('jumped')
      await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Jump…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Go to').selectOption('3')
      await dialog.getByRole('button', { name: 'Jump' }).click()
      await dialog.waitFor({ state: 'detached' })
      await page
        .getByRole('listitem')
        .filter({ hasText: /3\..*100%/ })
        .and(page.locator('[aria-current=step]'))
        .waitFor()
      expect((await recordOf('jumped'))[0]).toMatchObject({ type: 'jump', step: 3, expectedStep: 1 })
    })

    it('aborts, which puts the stable version back', async () => {
      const page = await open('aborted')
      await act(page, 'Abort…', { name: 'aborted', reason: 'not today' })
      waitFor(stage, 'rollout/aborted', '{.status.phase}=Healthy')
      await page.getByRole('region', { name: 'History' }).getByText('not today').waitFor()
      expect(imagesOf('aborted')).toEqual(['registry.example/aborted:v1'])
      expect((await recordOf('aborted')).map(({ type }) => type)).toEqual(['abort'])
    })

    it('retries a version that failed, and restarts all pods of a rollout', async () => {
      const page = await open('retried')
      await act(page, 'Retry', { reason: 'the registry is back' })
      await page.getByRole('region', { name: 'History' }).getByText('the registry is back').waitFor()
      await page.goto(`${stage.api}/dashboard/rollouts/agents/calm`)
      await act(page, 'Restart…', { name: 'calm' })
      await page.getByRole('heading', { level: 1, name: /Waiting/ }).waitFor()
      expect([(await recordOf('retried'))[0]?.type, (await recordOf('calm'))[0]?.type]).toEqual(['retry', 'restart'])
    })
  })

  it('approves a step with the keyboard alone', async () => {
    const { page } = await openPage(browser, { storageState: session })
    await page.goto(`${stage.api}/dashboard/`)
    await page.getByRole('link', { name: 'typed' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('typed')
    await page.getByRole('option', { name: /typed/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /typed/ }).waitFor()
    await tabTo(page, 'Approve')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'Reason')
    await page.keyboard.type('by keyboard')
    await tabTo(page, 'Approve')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await recordOf('typed'))[0]).toMatchObject({ type: 'approve', reason: 'by keyboard' })
  })

  it('checks the cluster, copies the command of a fix, and sees that it helped', async () => {
    stage.apply(leftBehind('left-behind', AGENTS))
    const { page, faults } = await openPage(browser, { storageState: session, permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto(`${stage.api}/dashboard/`)
    await page.getByRole('link', { name: 'Doctor' }).click()
    const finding = page.getByRole('region', { name: 'Notes' }).getByRole('listitem').filter({ hasText: 'DaemonSet agents/left-behind' })
    await finding.getByRole('button', { name: 'Copy' }).click()
    await finding.getByText('Copied').waitFor()
    const command = await page.evaluate(() => navigator.clipboard.readText())
    expect(command).toMatch(/^kubectl patch daemonset left-behind -n agents /)
    execFileSync('bash', ['-c', command], { env: { ...process.env, KUBECONFIG: stage.kubeconfig }, stdio: 'ignore' })
    await page.getByRole('button', { name: 'Check again' }).click()
    await finding.waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'In order' }).getByRole('listitem').first().waitFor()
    expect(faults).toEqual([])
  })

  describe('finds their way', () => {
    it.each([
      { path: 'rollouts/agents/typed/nodes/node-003', heading: /node-003/ },
      { path: 'rollouts/agents/typed/plan', heading: /What if/ },
      { path: 'rollouts/agents/typed/policy', heading: /Policy/ },
      { path: 'record?rollout=agents/approved', heading: /Record/ },
      { path: 'doctor', heading: /Doctor/ },
      { path: 'rollouts/agents/typed?state=updated&table=true', heading: /typed/ },
    ])('by a deep link (/$path)', async ({ path, heading }) => {
      const { page, faults } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/${path}`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      expect(page.url()).toBe(`${stage.api}/dashboard/${path}`)
      expect(faults).toEqual([])
    })

    it('with filters of the fleet that survive a reload and the way back', async () => {
      const { page } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/`)
      await page.getByLabel('Search rollouts').fill('ed')
      await page.getByLabel('Sort by').selectOption('name')
      await page.getByLabel('State').selectOption('needsYou')
      const url = page.url()
      expect(url).toMatch(/q=ed&group=needsYou&sort=name/)
      const names = await fleetNames(page)
      expect(names).toEqual([...names].sort())
      expect(names.filter((name) => !name.includes('ed'))).toEqual([])
      await page.reload()
      await page.getByRole('link', { name: names[0]! }).click()
      await page.getByRole('heading', { level: 1, name: new RegExp(names[0]!) }).waitFor()
      await page.goBack()
      await page.getByLabel('Search rollouts').waitFor()
      expect(page.url()).toBe(url)
      expect(await page.getByLabel('Search rollouts').inputValue()).toBe('ed')
      expect(await page.getByLabel('State').inputValue()).toBe('needsYou')
    })

    it('to the events of a crashing pod, from its node', async () => {
      const page = await open('retried')
      await page.getByRole('region', { name: 'Not well' }).getByRole('link').first().click()
      const events = page.getByRole('region', { name: 'Events' })
      await events.getByText('BackOff', { exact: true }).first().waitFor()
      await events
        .getByText(/^Pod\/retried-/)
        .first()
        .waitFor()
      expect(await events.getByText('by kubelet').count()).toBeGreaterThan(0)
    })

    it('to the time of an entry, by its copied link, which works after a reload too', async () => {
      const page = await open('typed')
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      const title = 'Release of v2 (revision 2) started'
      const entry = page.getByRole('region', { name: 'History' }).getByRole('listitem').filter({ hasText: title })
      await entry.getByRole('button', { name: `Copy link to: ${title}` }).click()
      await entry.getByText('Link copied').waitFor()
      const link = await page.evaluate(() => navigator.clipboard.readText())
      expect(link).toMatch(/\/dashboard\/rollouts\/agents\/typed\?at=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
      await page.goto(link)
      await page.reload()
      const marked = page.locator('[aria-current=true]')
      await marked.filter({ hasText: title }).waitFor()
      expect(await marked.first().evaluate((element) => element === document.activeElement)).toBe(true)
      // The parts above it arrive later.
      await page.getByRole('region', { name: 'Revisions and changes' }).getByText('1 line added').waitFor()
      const bottom = (): Promise<number> => marked.first().evaluate((element) => element.getBoundingClientRect().bottom / innerHeight)
      await expect.poll(bottom).toBeLessThanOrEqual(1)
      await page.getByRole('button', { name: 'Remove the mark' }).click()
      await marked.first().waitFor({ state: 'detached' })
      expect(page.url()).toBe(`${stage.api}/dashboard/rollouts/agents/typed`)
    })

    it('to a time in the record, and with a note if the time is none', async () => {
      const { page, faults } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/record?rollout=agents/approved&at=2001-01-01T00:00:00Z`)
      await page.getByRole('row').and(page.locator('[aria-current=true]')).first().waitFor()
      await page.getByText(/^Marked is what is nearest to/).waitFor()
      await page.goto(`${stage.api}/dashboard/record?at=<img src=x>`)
      await page.getByText('The address of this page has no valid time after "at=": "<img src=x>".', { exact: false }).waitFor()
      await page.goto(`${stage.api}/dashboard/rollouts/agents/approved?at=yesterday`)
      await page.getByText('The address of this page has no valid time after "at=": "yesterday".', { exact: false }).waitFor()
      expect(await page.locator('[aria-current=true]').count()).toBe(0)
      expect(faults).toEqual([])
    })

    it('through the unavailable nodes of a forecast over time, as a chart and as a table', async () => {
      const { page, faults } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/rollouts/agents/calm/plan?image=agent=registry.example/calm:v2`)
      const chart = page.getByRole('img', { name: /^Unavailable nodes over time: 0 at the start; at most 2, .* 2 nodes allowed$/ })
      await chart.locator('canvas').waitFor()
      await page.getByText('As a table', { exact: true }).click()
      const rows = page.getByRole('table', { name: 'Unavailable nodes over time' }).getByRole('row')
      expect((await rows.allInnerTexts()).slice(0, 2)).toEqual(['From\tUnavailable nodes', '0s\t0'])
      expect(faults).toEqual([])
    })

    it('among nodes, by state, by text and in any order', async () => {
      const page = await open('retried')
      await page.getByText(/^Table of these 6 nodes/).click()
      const rows = page
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader') })
        .filter({ hasText: 'node-' })
      const heading = page.getByRole('columnheader', { name: 'Node', exact: true })
      await heading.getByRole('button').click()
      expect(await namesIn(rows)).toEqual(['node-001', 'node-002', 'node-003', 'node-004', 'node-005', 'node-006'])
      await heading.getByRole('button').click()
      expect((await namesIn(rows))[0]).toBe('node-006')
      expect(await heading.getAttribute('aria-sort')).toBe('descending')
      await page.getByRole('button', { name: /failing/ }).click()
      const failing = await namesIn(rows)
      expect(failing.length).toBeLessThan(6)
      await page.reload()
      await page.getByRole('button', { name: /failing/, pressed: true }).waitFor()
      expect(await namesIn(rows)).toEqual(failing)
      await page.getByRole('button', { name: /failing/ }).click()
      await page.getByLabel('Search nodes').fill('node-002')
      await expect.poll(() => namesIn(rows)).toEqual(['node-002'])
    })

    it('by the command palette', async () => {
      const { page } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/`)
      await page.getByRole('link', { name: 'calm' }).waitFor()
      await page.keyboard.press('/')
      const field = page.getByRole('dialog').getByRole('combobox')
      const selected = page.getByRole('dialog').getByRole('option', { selected: true })
      await field.fill('nothing like this')
      await page.getByText('Nothing matches').waitFor()
      await field.fill('agents')
      const first = await selected.innerText()
      await page.keyboard.press('ArrowDown')
      expect(await selected.innerText()).not.toBe(first)
      await page.keyboard.press('ArrowUp')
      expect(await selected.innerText()).toBe(first)
      await field.fill('calm')
      await page.getByRole('option', { name: /calm/ }).click()
      await page.getByRole('heading', { level: 1, name: /calm/ }).waitFor()
    })
  })
})

async function open(name: string): Promise<Page> {
  const { page } = await openPage(browser, { storageState: session })
  await page.goto(`${stage.api}/dashboard/rollouts/${AGENTS}/${name}`)
  await page.getByRole('heading', { level: 1, name: new RegExp(name) }).waitFor()
  return page
}

/** Takes an action with its confirmation. @param answers reason, and the name where the dialog asks for it */
async function act(page: Page, action: string, { reason, name }: { readonly reason?: string; readonly name?: string }): Promise<void> {
  await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: action }).click()
  const dialog = page.getByRole('dialog')
  if (reason !== undefined) await dialog.getByLabel('Reason').fill(reason)
  await confirm(dialog, action.replace('…', ''), name)
}

async function confirm(dialog: Locator, button: string, name?: string): Promise<void> {
  if (name !== undefined) await dialog.getByLabel(/^Type/).fill(name)
  await dialog.getByRole('button', { name: button }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Presses Tab until a part of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const seen: string[] = []
  while (seen.length < 60) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const element = document.activeElement
      return (element?.closest('label') ?? element)?.textContent ?? ''
    })
    if (focused.startsWith(name)) return
    seen.push(focused)
  }
  throw new Error(`Tab does not reach ${name}, only: ${seen.join(' | ')}`)
}

interface Recorded {
  readonly type: string
  readonly by: string
  readonly reason?: string
  readonly expectedStep?: number
}

/** @returns the recorded actions of a Rollout, oldest first, with what the user chose */
async function recordOf(name: string): Promise<readonly Recorded[]> {
  const { actions } = (await stage.get(`namespaces/${AGENTS}/rollouts/${name}/history`)) as {
    actions: readonly (Recorded & { at: string })[]
  }
  const sorted = [...actions].sort((a, b) => (a.at < b.at ? -1 : 1))
  const chosen = ['type', 'by', 'reason', 'expectedStep', 'full', 'step', 'toRevision']
  return sorted.map((one) => Object.fromEntries(Object.entries(one).filter(([key]) => chosen.includes(key))) as unknown as Recorded)
}

/** @returns images of the pods of an agent, each once */
function imagesOf(name: string): readonly string[] {
  const images = stage.kubectl('-n', AGENTS, 'get', 'pods', '-l', `app=${name}`, '-o', 'jsonpath={.items[*].spec.containers[0].image}')
  return [...new Set(images.split(' '))]
}

async function fleetNames(page: Page): Promise<readonly string[]> {
  return page.locator('table.fleet th[scope=row] a').allInnerTexts()
}

async function namesIn(rows: Locator): Promise<readonly string[]> {
  return rows.getByRole('rowheader').allInnerTexts()
}
