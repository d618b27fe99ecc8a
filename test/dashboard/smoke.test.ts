import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumForTests } from '../../scripts/chromium-for-tests.ts'
import { expectAccessible, launchBrowser, openPage, signIn } from './browser.ts'
import { type DevStage, startDev } from './dev-stage.ts'

const program = await chromiumForTests()

describe.skipIf(program === null)('the dashboard of tranche dev', () => {
  let stage: DevStage
  let browser: Browser
  beforeAll(async () => {
    ;[stage, browser] = await Promise.all([startDev('--nodes', '10'), launchBrowser(program!)])
  })
  afterAll(async () => {
    await browser?.close()
    stage?.dispose()
  })

  it('opens by its link, and shows the fleet, a rollout and its nodes without a fault', async () => {
    const { page, faults } = await openPage(browser)
    await page.goto(stage.link)
    await page.getByRole('link', { name: 'node-agent' }).click()
    await page.getByRole('heading', { name: /^node-agent/ }).waitFor()
    await page.getByRole('button', { name: '10 updated' }).waitFor()
    await expectAccessible(page)
    expect(new URL(page.url()).pathname).toBe('/dashboard/rollouts/demo/node-agent')
    expect(faults).toEqual([])
  })

  it('signs in by a token, which stays out of URL, storage and cookies', async () => {
    const { page, faults } = await openPage(browser, { colorScheme: 'dark' })
    await signIn(page, stage)
    await page.getByRole('link', { name: 'node-agent' }).waitFor()
    await expectAccessible(page)
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]))
    expect(kept).not.toContain(stage.token)
    expect(await page.context().cookies()).toEqual([])
    expect(faults).toEqual([])
  })
})
