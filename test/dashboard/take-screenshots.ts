/**
 * Takes the pictures of docs/guides/dashboard.md: `node test/dashboard/take-screenshots.ts`. Starts `tranche dev` and Chromium, and ends
 * them.
 */
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { chromiumForTests } from '../../scripts/chromium-for-tests.ts'
import { leftBehind } from './agent-objects.ts'
import { launchBrowser, openPage } from './browser.ts'
import { startDev } from './dev-stage.ts'

const folder = resolve(import.meta.dirname, '../../docs/guides/images')
const program = await chromiumForTests()
if (program === null) throw new Error('there is no Chromium')
mkdirSync(folder, { recursive: true })
const [stage, browser] = await Promise.all([startDev('--nodes', '60'), launchBrowser(program)])
try {
  const { page } = await openPage(browser, { viewport: { width: 1_280, height: 1_000 } })
  await page.goto(stage.link)
  await page.getByRole('link', { name: 'node-agent' }).waitFor()
  setImage('v2')
  await page.getByText('Waiting').waitFor()
  await page.getByRole('link', { name: 'node-agent' }).click()
  await page.getByRole('button', { name: '6 updated' }).waitFor()
  await take(page, 'paused')
  setImage('v3-bad-crash')
  await page.getByRole('heading', { name: /^CrashLoopBackOff/ }).waitFor({ timeout: 90_000 })
  await take(page, 'failed')
  await page.getByRole('link', { name: 'Rollouts', exact: true }).first().click()
  await page.getByText('CrashLoopBackOff').first().waitFor()
  await take(page, 'fleet')
  stage.apply(leftBehind('log-shipper', 'demo'))
  await page.getByRole('link', { name: 'Doctor' }).click()
  await page.getByRole('button', { name: 'Check again' }).waitFor()
  await take(page, 'doctor')
} finally {
  await browser.close()
  stage.dispose()
}

function setImage(tag: string): void {
  stage.kubectl('-n', 'demo', 'set', 'image', 'daemonset/node-agent', `agent=registry.example/node-agent:${tag}`)
}

async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: resolve(folder, `dashboard-${name}.png`), animations: 'disabled' })
  console.log(`docs/guides/images/dashboard-${name}.png`)
}
