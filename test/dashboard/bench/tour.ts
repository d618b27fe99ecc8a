/** A tour of all pages in one tab: it has one stream, whatever it shows. */
import type { Browser } from 'playwright-core'
import type { Tour } from '../../../scripts/bench/dashboard-figures.ts'
import { until } from '../../../scripts/bench/until.ts'
import { BUSY, NAMESPACE } from './large-fleet.ts'
import { openTab, type TabUser } from './tab.ts'

const rollout = `rollouts/${NAMESPACE}/${BUSY}`

/** Visits the pages by changing the URL in place, as links do. After each there is exactly one stream. */
export async function tour(browser: Browser, user: TabUser): Promise<Tour> {
  const tab = await openTab(browser, user)
  await tab.open('')
  await tab.page.locator('table.fleet tbody tr').first().waitFor()
  const pages = [rollout, `${rollout}/nodes/node-0001`, `${rollout}/plan`, `${rollout}/policy`, 'record', '', rollout, '']
  for (const path of pages) {
    await tab.page.evaluate((url) => {
      history.pushState(null, '', url)
      dispatchEvent(new PopStateEvent('popstate'))
    }, `/dashboard/${path}`)
    await tab.page.locator('main#main h1').first().waitFor()
    await until('one stream to be open', () => tab.openStreams() === 1 || `${tab.openStreams()} are`, { withinSeconds: 20 })
  }
  const streams = tab.requests.filter((path) => path.startsWith('/api/v1/stream')).length
  const mostStreams = tab.mostStreams()
  await tab.close()
  return { pages: pages.length + 1, mostStreams, streams }
}
