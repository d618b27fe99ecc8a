import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumForTests } from '../../scripts/chromium-for-tests.ts'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { AGENTS, createAgents, releaseToPause, setVersion, waitFor } from './agent-objects.ts'
import {
  type BrowserSession,
  closePages,
  expectAccessible,
  expectNoSideScroll,
  launchBrowser,
  openPage,
  sessionOfLink,
  signIn,
} from './browser.ts'
import { type DevStage, startDev } from './dev-stage.ts'

const program = await chromiumForTests()
const hasKubectl = kubectlForTests()

let stage: DevStage
let browser: Browser
let session: BrowserSession

describe.skipIf(program === null || !hasKubectl)('the dashboard is accessible', () => {
  beforeAll(async () => {
    ;[stage, browser] = await Promise.all([startDev('--nodes', '6', '--speed', '10', '--no-demo'), launchBrowser(program!)])
    session = await sessionOfLink(browser, stage.link)
    createAgents(stage, { calm: {}, waits: {}, halted: {}, failing: {}, off: { disabled: true } })
    for (const name of ['waits', 'halted']) releaseToPause(stage, name, 'v2')
    expect(await stage.act('agents/halted', 'pause', { reason: 'a look at the first node' })).toBe(200)
    setVersion(stage, 'failing', 'v2-bad-crash')
    waitFor(stage, 'rollout/failing', '{.status.failure.stops}=true')
    stage.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: AGENTS, name: 'outsider' } })
  }, 240_000)
  afterEach(() => closePages(browser))
  afterAll(async () => {
    await browser?.close()
    stage?.dispose()
  })

  it.each<{ state: string; path: string; ready: string; open?: (page: Page) => Promise<void> }>([
    { state: 'a fleet', path: '', ready: 'exit code 1' },
    { state: 'a fleet without a match', path: '?q=nothing', ready: 'No rollout matches' },
    { state: 'the command palette', path: '', ready: 'exit code 1', open: openPalette },
    { state: 'a rollout without a release', path: 'rollouts/agents/calm', ready: 'Every node is well' },
    { state: 'a rollout that waits', path: 'rollouts/agents/waits?table=true', ready: 'waits for approval' },
    { state: 'a paused rollout', path: 'rollouts/agents/halted', ready: 'Paused' },
    { state: 'a failing rollout', path: 'rollouts/agents/failing', ready: 'exit code 1' },
    {
      state: 'a history with a mark',
      path: 'rollouts/agents/halted?at=2026-01-01T00:00:00Z',
      ready: 'Marked is what is nearest to',
    },
    { state: 'a disabled rollout', path: 'rollouts/agents/off', ready: 'Disabled' },
    { state: 'the dialog of an approval', path: 'rollouts/agents/waits', ready: 'waits for approval', open: dialogOf('Approve') },
    { state: 'the dialog of a promotion', path: 'rollouts/agents/waits', ready: 'waits for approval', open: dialogOf('Promote…') },
    { state: 'the dialog of an abort', path: 'rollouts/agents/failing', ready: 'exit code 1', open: dialogOf('Abort…') },
    { state: 'the dialog of a way back', path: 'rollouts/agents/failing', ready: 'exit code 1', open: dialogOf('Undo to a revision…') },
    { state: 'the dialog of a jump', path: 'rollouts/agents/waits', ready: 'waits for approval', open: dialogOf('Jump…') },
    { state: 'a node', path: 'rollouts/agents/failing/nodes/node-001', ready: 'Next steps' },
    { state: 'a node that is not there', path: 'rollouts/agents/failing/nodes/nowhere', ready: 'Not part of this Rollout' },
    { state: 'a plan', path: 'rollouts/agents/waits/plan', ready: 'Assumes' },
    { state: 'a policy', path: 'rollouts/agents/waits/policy', ready: 'Where it is set' },
    { state: 'the record', path: 'record', ready: 'a look at the first node' },
    { state: 'the doctor', path: 'doctor', ready: 'Check again' },
    { state: 'a record with a mark', path: 'record?at=2026-01-01T00:00:00Z', ready: 'Marked is what is nearest to' },
    { state: 'a problem', path: 'rollouts/agents/missing', ready: 'This Rollout does not exist' },
    { state: 'an unknown page', path: 'no/such/page', ready: 'There is no such page' },
  ])('to assistive technology, fingers and phones: $state', async ({ path, ready, open }) => {
    const { page, faults } = await openPage(browser, { storageState: session })
    await page.goto(`${stage.api}/dashboard/${path}`)
    await page.getByText(ready).first().waitFor()
    await open?.(page)
    await expectAllWays(page)
    expect(faults).toEqual([])
  })

  it('to assistive technology, fingers and phones: sign-in, a refused token, and the fleet and the doctor of a user without rights', async () => {
    const { page, faults } = await openPage(browser)
    await page.goto(`${stage.api}/dashboard/`)
    await page.getByLabel('Token').waitFor()
    await expectAllWays(page)
    await page.getByLabel('Token').fill('guess')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('does not accept this token').waitFor()
    await expectAllWays(page)
    await signIn(page, { ...stage, token: stage.kubectl('-n', AGENTS, 'create', 'token', 'outsider').trim() })
    await page.getByRole('heading', { name: 'No rollouts yet' }).waitFor()
    await expectAllWays(page)
    await page.getByRole('link', { name: 'Doctor' }).click()
    await page.getByRole('heading', { name: 'Not looked at' }).waitFor()
    await expectAllWays(page)
    expect(faults).toEqual([])
  })

  describe('to the keyboard', () => {
    it('whose focus goes into a dialog, stays there, and comes back', async () => {
      const { page } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/rollouts/agents/waits`)
      await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Pause' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      for (let presses = 0; presses < 8; presses++) {
        // Beyond the last part, the focus visits the window of the browser.
        expect(['dialog', 'body']).toContain(await focusedPart(page))
        await page.keyboard.press('Tab')
      }
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await focusedText(page)).toBe('Pause')
    })

    it('whose focus goes into the command palette, and comes back', async () => {
      const { page } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/`)
      await page.getByRole('link', { name: 'waits' }).focus()
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').waitFor()
      expect(await focusedPart(page)).toBe('dialog')
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      expect(await focusedText(page)).toBe('waits')
    })

    it('whose focus goes to the result of an action, since the button may be gone', async () => {
      const { page } = await openPage(browser, { storageState: session })
      await page.goto(`${stage.api}/dashboard/rollouts/agents/halted`)
      await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Resume' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => focusedPart(page)).toBe('action-result')
    })
  })

  it('to people who want less motion', async () => {
    const { page } = await openPage(browser, { storageState: session, reducedMotion: 'reduce' })
    await page.goto(`${stage.api}/dashboard/rollouts/agents/waits`)
    await page.getByText('waits for approval').first().waitFor()
    await openPalette(page)
    const moving = await page.evaluate(() => {
      const lasts = (text: string): boolean => text.split(',').some((part) => Number.parseFloat(part) > 0.001)
      const isMoving = (style: CSSStyleDeclaration): boolean =>
        (lasts(style.transitionDuration) && style.transitionProperty !== 'none') ||
        (style.animationName !== 'none' && lasts(style.animationDuration))
      const smooth = [...document.querySelectorAll('*')].filter(
        (one) => getComputedStyle(one).scrollBehavior === 'smooth' || isMoving(getComputedStyle(one)),
      )
      return [...smooth.map(({ outerHTML }) => outerHTML.slice(0, 100)), ...document.getAnimations().map(String)]
    })
    expect(moving).toEqual([])
  })
})

/** Checks the page as it is in all colours, with its targets, and at the width of a phone. */
async function expectAllWays(page: Page): Promise<void> {
  for (const [colorScheme, forcedColors] of [
    ['light', 'none'],
    ['dark', 'none'],
    ['light', 'active'],
  ] as const) {
    await page.emulateMedia({ colorScheme, forcedColors })
    await expectAccessible(page)
  }
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' })
  expect(await smallTargets(page)).toEqual([])
  await page.setViewportSize({ width: 360, height: 800 })
  await expectNoSideScroll(page)
  expect(await smallTargets(page)).toEqual([])
  await page.setViewportSize({ width: 1_280, height: 900 })
}

/**
 * Finds targets below 24 by 24 pixels that have no exception of WCAG 2.2, 2.5.8: those in a line of text, and those at a distance from all
 * others.
 */
function smallTargets(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const SIZE = 24
    const isInText = (element: Element): boolean => {
      if (getComputedStyle(element).display !== 'inline') return false
      const around = element.parentElement?.childNodes ?? []
      return [...around].some((node) => node.nodeType === Node.TEXT_NODE && /\w/.test(node.textContent ?? ''))
    }
    const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=option], canvas')]
    const modal = document.querySelector('dialog[open]')
    const targets = all
      .filter((element) => (modal === null || modal.contains(element)) && element.checkVisibility() && !element.matches('.skip'))
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      // The label of a field is a part of its target.
      .map(({ element, box }) => ({ element, box: element.closest('label')?.getBoundingClientRect() ?? box }))
    const isSmall = ({ box }: { readonly box: DOMRect }): boolean => box.width < SIZE - 0.5 || box.height < SIZE - 0.5
    const distance = (x: number, y: number, box: DOMRect): number =>
      Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom))
    return targets
      .filter((target) => isSmall(target) && !isInText(target.element))
      .filter(({ element, box }) => {
        const [x, y] = [box.left + box.width / 2, box.top + box.height / 2]
        return targets.some(
          (other) => other.element !== element && !other.element.contains(element) && distance(x, y, other.box) < SIZE / 2,
        )
      })
      .map(({ element, box }) => `${Math.round(box.width)}×${Math.round(box.height)} ${element.outerHTML.slice(0, 120)}`)
  })
}

function dialogOf(action: string): (page: Page) => Promise<void> {
  return async (page) => {
    await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: action }).click()
    await page.getByRole('dialog').getByLabel('Reason').waitFor()
  }
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').waitFor()
}

/** @returns the part of the page that has the focus */
function focusedPart(page: Page): Promise<string> {
  return page.evaluate(() => {
    const focused = document.activeElement
    if (focused === null || focused === document.body) return 'body'
    return focused.closest('dialog') === null ? focused.className : 'dialog'
  })
}

function focusedText(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => document.activeElement?.textContent)
}
