import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@tranche/clock'
import { createKubeClient, createReflector, createUndiciExchange, loadKubeConfig, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { createApiServer, createHttpFront, type HttpsServer, listen } from '@tranche/sim-api'
import { afterAll, beforeAll, expect, it } from 'vitest'

// The path of an installed program, from the kubeconfig to the watch. Real sockets need the clock of this machine.

let server: HttpsServer
let folder: string

beforeAll(async () => {
  const apiServer = createApiServer({ clock: systemClock, seed: 1 })
  server = await listen(
    createHttpFront(apiServer, { tokens: { secret: { name: 'tester', groups: ['system:masters'] } }, clock: systemClock }),
    { port: 0 },
  )
  folder = mkdtempSync(join(tmpdir(), 'simulator-'))
})

afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

it('a kubeconfig leads to a server whose changes a reflector shows', async () => {
  const transport = createUndiciExchange(await loadKubeConfig({ clock: systemClock, path: kubeconfig('secret') }))
  const client = createKubeClient({ ...transport, clock: systemClock, userAgent: 'tranche-test/1', log: silentLogger })
  const reflector = createReflector({
    client,
    resource: resourcePaths.namespaces,
    transform: (namespace) => namespace.metadata.name,
    clock: systemClock,
    log: silentLogger,
  })
  const run = reflector.start()
  await reflector.whenSynced()
  expect(reflector.store.list()).toContain('default')
  const created = await client.create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'agents' } })
  await reflector.whenReached(created.metadata.resourceVersion)
  expect(reflector.store.get({ namespace: '', name: 'agents' })).toBe('agents')
  reflector.stop()
  await run
  await transport.close()
})

it('a wrong token is refused with 401', async () => {
  const transport = createUndiciExchange(await loadKubeConfig({ clock: systemClock, path: kubeconfig('guessed') }))
  const client = createKubeClient({ ...transport, clock: systemClock, userAgent: 'tranche-test/1', log: silentLogger })
  await expect(client.list(resourcePaths.pods)).rejects.toMatchObject({ code: 'API_REFUSED', status: 401, reason: 'Unauthorized' })
  await transport.close()
})

function kubeconfig(token: string): string {
  const path = join(folder, token)
  const authority = Buffer.from(server.caCertificate).toString('base64')
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [{ name: 'sim', cluster: { server: server.url, 'certificate-authority-data': authority } }],
      users: [{ name: 'me', user: { token } }],
      contexts: [{ name: 'sim', context: { cluster: 'sim', user: 'me' } }],
      'current-context': 'sim',
    }),
  )
  return path
}
