import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumForTests } from '../../scripts/chromium-for-tests.ts'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { AGENTS, createAgents, releaseToPause, setVersion, waitFor } from './agent-objects.ts'
import { closePages, expectAccessible, launchBrowser, openPage, type WatchedPage } from './browser.ts'
import { type DevStage, startDev } from './dev-stage.ts'
import { argoHeaders, argoRoute, type ArgoUser, extensionsScript } from './hosts/argo-server.ts'
import { buildHosts, type HostFiles, type HostServer, proxyTo, serveHost, serverOf } from './hosts/host-stage.ts'
import { tokenWithRoles } from './hosts/users.ts'

const program = await chromiumForTests()
const hasKubectl = kubectlForTests()

let stage: DevStage
let browser: Browser
let files: HostFiles

describe.skipIf(program === null || !hasKubectl)('a plugin in its host', () => {
  beforeAll(async () => {
    ;[stage, browser, files] = await Promise.all([
      startDev('--nodes', '6', '--speed', '10', '--no-demo'),
      launchBrowser(program!),
      buildHosts(),
    ])
    const waiting = ['listed', 'watched', 'acted']
    createAgents(stage, Object.fromEntries([...waiting, 'crashing'].map((name) => [name, {}])))
    for (const name of waiting) releaseToPause(stage, name, 'v2')
    setVersion(stage, 'crashing', 'v2-bad-crash')
    waitFor(stage, 'rollout/crashing', '{.status.failure.stops}=true')
  }, 240_000)
  afterEach(() => closePages(browser))
  afterAll(async () => {
    await browser?.close()
    files?.dispose()
    stage?.dispose()
  })

  describe('Headlamp', () => {
    let host: HostServer
    let token: string
    beforeAll(async () => {
      host = await serveHost(files.host('headlamp'), {
        '/plugins/tranche/main.js': script(files.plugin('headlamp/tranche/main.js')),
        '/clusters/demo/': proxyTo(serverOf(stage.kubeconfig), () => token, '/clusters/demo'),
      })
    })
    afterAll(() => host?.dispose())

    async function open(path: string): Promise<WatchedPage> {
      const watched = await openPage(browser)
      await watched.page.goto(`${host.url}/#/c/demo${path}`)
      return watched
    }

    it('lists the Rollouts of a namespace, opens one and approves its step, for a user without a right on the cluster', async () => {
      token = tokenWithRoles(stage, 'operator', ['tranche-cli-operator'])
      const { page, faults } = await open('')
      await page.getByRole('navigation', { name: 'Host' }).getByRole('link', { name: 'Tranche' }).click()
      await page.getByText('You may not list rollouts.rollouts.kruise.io in all namespaces').waitFor()
      await page.getByLabel(/Namespaces/).fill(AGENTS)
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      await page.getByRole('link', { name: 'listed', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: /listed Waiting/ }).waitFor()
      expect(page.url()).toBe(`${host.url}/#/c/demo/tranche/rollouts/agents/listed`)
      await page.getByText('Parts are left out, because you may not read them').click()
      await page.getByText('list nodes', { exact: true }).waitFor()
      await approve(page)
      await page.getByRole('region', { name: 'History' }).getByText('looks good').waitFor()
      await page.getByRole('heading', { level: 1, name: /listed Done/ }).waitFor({ timeout: 60_000 })
      expect(recordOf('listed')).toMatchObject([{ type: 'approve', by: `system:serviceaccount:${AGENTS}:operator`, via: 'cli' }])
      expect(observedOn('listed')).toEqual(['template'])
      await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Rollouts' }).click()
      await page.getByLabel(/Namespaces/).waitFor()
      expect(faults).toEqual([])
    })

    it('names the missing right to a user who may only read, and shows node and policy', async () => {
      token = tokenWithRoles(stage, 'viewer', ['tranche-cli-viewer'])
      const { page, faults } = await open('/tranche/rollouts/agents/crashing')
      await page.getByText('Read-only: you may not act on this Rollout').click()
      await page.getByText('patch rollouts.rollouts.kruise.io "crashing" in namespace "agents"').waitFor()
      expect(await page.getByRole('button', { name: 'Abort' }).isDisabled()).toBe(true)
      await page.getByText('You may not list events in namespace "agents".').waitFor()
      const unwell = page.getByRole('region', { name: 'Not well' })
      await unwell.getByRole('heading', { name: /CrashLoopBackOff/ }).waitFor()
      await unwell.getByRole('link').first().click()
      await page.locator('.outlook h2').waitFor()
      await page.getByRole('link', { name: 'crashing' }).click()
      await page.getByRole('link', { name: 'defaults' }).click()
      await page.getByText('The Rollout names no ReleasePolicy', { exact: false }).waitFor()
      await page.goto(`${host.url}/#/c/demo/tranche/rollouts/agents/no-such`)
      await page.getByText('This Rollout does not exist').first().waitFor()
      expect(faults).toEqual([])
    })

    it('adds the state of its release to the page of a DaemonSet', async () => {
      token = tokenWithRoles(stage, 'viewer', ['tranche-cli-viewer'])
      const { page, faults } = await open('/details/DaemonSet/agents/watched')
      const section = page.getByRole('region', { name: 'Release' })
      await section.getByText('waits for approval', { exact: false }).waitFor()
      await section.getByRole('link', { name: 'Steps, nodes and actions' }).click()
      await page.getByRole('heading', { level: 1, name: /watched Waiting/ }).waitFor()
      expect(faults).toEqual([])
    })

    it('adds the way to its release to the page of a Rollout, which has no sections of plugins', async () => {
      token = tokenWithRoles(stage, 'viewer', ['tranche-cli-viewer'])
      const { page, faults } = await open('/details/Rollout/agents/watched')
      await page.getByRole('button', { name: 'Release watched' }).click()
      await page.getByRole('heading', { level: 1, name: /watched Waiting/ }).waitFor()
      expect(faults).toEqual([])
    })

    it('keeps what it has read on the way from one place to another', async () => {
      token = tokenWithRoles(stage, 'viewer', ['tranche-cli-viewer'])
      const { page } = await open('/tranche/rollouts/agents/watched')
      await page.getByRole('heading', { level: 1, name: /watched Waiting/ }).waitFor()
      const frame = await page.locator('.tranche-host').elementHandle()
      await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Rollouts' }).click()
      await page.getByLabel(/Namespaces/).waitFor()
      expect(await frame?.evaluate((one) => one.isConnected)).toBe(true)
      await page.getByRole('navigation', { name: 'Host' }).getByRole('link', { name: 'Record' }).click()
      await page.getByRole('heading', { level: 1, name: 'Record' }).waitFor()
    })

    it('draws the map of nodes in the colours of the theme', async () => {
      token = tokenWithRoles(stage, 'viewer', ['tranche-cli-viewer'])
      const { page } = await open('/tranche/rollouts/agents/crashing')
      const hasRed = (canvas: HTMLElement | SVGElement): boolean => {
        const { width, height } = canvas as HTMLCanvasElement
        const { data } = (canvas as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height)
        return Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3).join()).includes('179,38,30')
      }
      await expect.poll(() => page.locator('canvas').evaluate(hasRed), { timeout: 20_000 }).toBe(true)
    })

    it('keeps its styles and those of the host apart, in both themes', async () => {
      token = tokenWithRoles(stage, 'viewer', ['tranche-cli-viewer'])
      const { page, faults } = await open('/details')
      const nav = page.getByRole('navigation', { name: 'Host' }).getByRole('link')
      const before = await lookOf(nav)
      await page.goto(`${host.url}/#/c/demo/tranche/rollouts/agents/watched`)
      const heading = page.getByRole('heading', { name: 'Steps' })
      await heading.waitFor()
      expect(await lookOf(nav)).toEqual(before)
      const light = await lookOf(heading)
      expect(light).toMatchObject({ transform: 'none', align: 'start', spacing: 'normal', border: '0px' })
      // The host's own size of a rem is 22 px. Its typeface and its background are those of the frame, too.
      const [frame, count] = await Promise.all([page.locator('.tranche-host'), page.locator('.count').first()].map(lookOf))
      expect([frame?.font, frame?.background, count?.font]).toEqual([
        '15px / 21.75px serif',
        'rgba(0, 0, 0, 0)',
        '13.05px / 18.9225px serif',
      ])
      const seen = await Promise.all(
        [page.getByRole('button', { name: 'Approve' }), page.locator('.crumbs a'), page.locator('td').first()].map(lookOf),
      )
      for (const { color, background } of seen) expect([color, background]).not.toContain('rgb(200, 0, 200)')
      await expectAccessible(page, '.tranche-host')
      await page.evaluate(() => (globalThis as unknown as { setHostTheme(theme: string): void }).setHostTheme('dark'))
      await expect.poll(async () => (await lookOf(heading)).color, { timeout: 10_000 }).not.toBe(light.color)
      await expectAccessible(page, '.tranche-host')
      expect(faults).toEqual([])
    })
  })

  describe('Argo CD', () => {
    let host: HostServer
    let user: ArgoUser
    beforeAll(async () => {
      const routes = {
        '/extensions.js': script(extensionsScript(files.plugin('argo-cd/tranche/extension-tranche.js'))),
        '/api/v1/': argoRoute(serverOf(stage.kubeconfig), () => user),
      }
      host = await serveHost(files.host('argo-cd'), routes, argoHeaders)
    })
    afterAll(() => host?.dispose())

    async function open(rollout: string, more = ''): Promise<WatchedPage> {
      const watched = await openPage(browser)
      await watched.page.goto(`${host.url}/?rollout=${rollout}${more}`)
      await watched.page.getByRole('button', { name: 'Release', exact: true }).click()
      return watched
    }

    it('shows a Rollout with its nodes and events, and approves its step by a patch of Argo CD', async () => {
      user = { username: 'alice', mayUpdate: true }
      const { page, faults } = await open('acted')
      await page.getByRole('heading', { level: 1, name: /Waiting/ }).waitFor()
      await page.getByRole('region', { name: 'Nodes' }).getByText('5 old').waitFor()
      await page.getByRole('region', { name: 'Events' }).getByRole('listitem').first().waitFor()
      await approve(page)
      await page.getByRole('heading', { level: 1, name: /Done/ }).waitFor({ timeout: 60_000 })
      expect(recordOf('acted')).toMatchObject([{ type: 'approve', by: 'alice', via: 'cli', reason: 'looks good' }])
      expect(observedOn('acted')).toEqual(['template'])
      expect(faults).toEqual([])
    })

    it('names the right of Argo CD that is missing, and the reason of a failed node', async () => {
      user = { username: 'bob', mayUpdate: false }
      const { page, faults } = await open('crashing')
      await page.getByText('Read-only: you may not act on this Rollout').click()
      await page.getByText('update applications in Argo CD, on default/argocd/agents').first().waitFor()
      const unwell = page.getByRole('region', { name: 'Not well' })
      await unwell.getByText('exit code 1').first().waitFor()
      await unwell.getByRole('link').first().click()
      await page.locator('.outlook h2').waitFor()
      await page.getByRole('link', { name: 'crashing' }).click()
      await page.getByText('What the dashboard shows, and Argo CD does not').click()
      await page.getByText('A forecast, which runs the whole system', { exact: false }).waitFor()
      const heading = page.getByRole('heading', { name: 'Steps' })
      const light = await lookOf(heading)
      await page.getByRole('button', { name: 'Other theme' }).click()
      await expect.poll(async () => (await lookOf(heading)).color, { timeout: 10_000 }).not.toBe(light.color)
      await expectAccessible(page, '.tranche-host')
      expect(faults).toEqual([])
    })

    it('says so where the React of Argo CD is too old', async () => {
      const { page, faults } = await open('crashing', '&old')
      await page.getByText('This tab needs Argo CD 3.5', { exact: false }).waitFor()
      expect(faults).toEqual([])
    })
  })
})

function script(text: string): Parameters<typeof serveHost>[1][string] {
  return (_request, response) => void response.writeHead(200, { 'content-type': 'text/javascript' }).end(text)
}

async function approve(page: Page): Promise<void> {
  await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Approve' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^Reason/).fill('looks good')
  await dialog.getByRole('button', { name: 'Approve' }).click()
  await dialog.waitFor({ state: 'detached' })
}

interface Look {
  readonly color: string
  readonly font: string
  readonly background: string
  readonly transform: string
  readonly align: string
  readonly spacing: string
  readonly border: string
}

/** Computed style of an element, as far as a foreign rule would change it. */
async function lookOf(element: ReturnType<Page['getByRole']>): Promise<Look> {
  return element.first().evaluate((one) => {
    const { color, backgroundColor, textTransform, textAlign, letterSpacing, borderBottomWidth, font } = getComputedStyle(one)
    return {
      ...{ color, font, background: backgroundColor, transform: textTransform, align: textAlign, spacing: letterSpacing },
      border: borderBottomWidth,
    }
  })
}

/** Actions on record. */
function recordOf(rollout: string): readonly object[] {
  return listOf(rollout, 'tranche.dev/recorded-actions')
}

/** Types of the changes that no action recorded. */
function observedOn(rollout: string): readonly string[] {
  return (listOf(rollout, 'tranche.dev/observed-changes') as readonly { readonly type: string }[]).map(({ type }) => type)
}

function listOf(rollout: string, annotation: string): readonly object[] {
  const { metadata } = JSON.parse(stage.kubectl('-n', AGENTS, 'get', 'rollout', rollout, '-o', 'json')) as {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  }
  return JSON.parse(metadata.annotations?.[annotation] ?? '[]') as readonly object[]
}
