import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumForTests } from '../../scripts/chromium-for-tests.ts'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { AGENTS, createAgents, releaseToPause } from './agent-objects.ts'
import { closePages, launchBrowser, openPage, type WatchedPage } from './browser.ts'
import { type DevStage, startDev } from './dev-stage.ts'
import { argoRoute, type ArgoUser } from './hosts/argo-server.ts'
import { buildHosts, type HostFiles, type HostServer, proxyTo, serveHost, serverOf } from './hosts/host-stage.ts'
import { tokenWithRoles } from './hosts/users.ts'

const program = await chromiumForTests()
const hasKubectl = kubectlForTests()

let stage: DevStage
let browser: Browser
let files: HostFiles

describe.skipIf(program === null || !hasKubectl)('a plugin in its host', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    ;[stage, browser, files] = await Promise.all([
      startDev('--nodes', '6', '--speed', '10', '--no-demo'),
      launchBrowser(program!),
      buildHosts(),
    ])
    const names = ['approved', 'seen', 'argo-cd-approved', 'argo-cd-react-18-approved']
    createAgents(stage, Object.fromEntries(names.map((name) => [name, {}])))
    for (const name of names) releaseToPause(stage, name, 'v2')
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
        '/plugins/tranche/main.js': (_request, response) =>
          void response.writeHead(200, { 'content-type': 'text/javascript' }).end(files.plugin('headlamp/tranche/main.js')),
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
      const { page, faults } = await open('/tranche')
      await page.getByText('You may not list rollouts.rollouts.kruise.io in all namespaces').waitFor()
      await page.getByLabel(/Namespaces/).fill(AGENTS)
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      await page.getByRole('link', { name: 'approved', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: /approved/ }).waitFor()
      await approve(page)
      await page.getByRole('heading', { level: 1, name: /Done/ }).waitFor({ timeout: 60_000 })
      const { items } = JSON.parse(stage.kubectl('-n', AGENTS, 'get', 'rollout', 'approved', '-o', 'json')).status ?? {}
      expect(items).toBeUndefined()
      expect(faults).toEqual([])
    })
  })

  describe.each(['argo-cd', 'argo-cd-react-18'] as const)('%s', (name) => {
    let host: HostServer
    let user: ArgoUser = { username: 'alice', mayUpdate: true }
    beforeAll(async () => {
      host = await serveHost(files.host(name), {
        '/extensions.js': (_request, response) =>
          void response.writeHead(200, { 'content-type': 'text/javascript' }).end(files.plugin('argo-cd/tranche/extension-tranche.js')),
        '/api/v1/': argoRoute(serverOf(stage.kubeconfig), () => user),
      })
    })
    afterAll(() => host?.dispose())

    async function open(rollout: string): Promise<WatchedPage> {
      const watched = await openPage(browser)
      await watched.page.goto(`${host.url}/?rollout=${rollout}`)
      await watched.page.getByRole('button', { name: 'Release', exact: true }).click()
      return watched
    }

    it('shows a Rollout, its nodes and its events, and approves its step', async () => {
      const { page, faults } = await open(`${name}-approved`)
      await page.getByRole('heading', { level: 1, name: /Waiting/ }).waitFor()
      await approve(page)
      await page.getByRole('heading', { level: 1, name: /Done/ }).waitFor({ timeout: 60_000 })
      expect(faults).toEqual([])
    })
  })
})

async function approve(page: Page): Promise<void> {
  await page.getByRole('region', { name: 'Actions' }).getByRole('button', { name: 'Approve' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^Reason/).fill('looks good')
  await dialog.getByRole('button', { name: 'Approve' }).click()
  await dialog.waitFor({ state: 'detached' })
}
