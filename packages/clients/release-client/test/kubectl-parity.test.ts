import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from '@tranche/clock'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, RECORDED_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator, type Simulator } from '@tranche/sim'
import { type HttpsServer, listen } from '@tranche/sim-api'
import { carryOut, type ActionOrder } from '@tranche/release-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kubectlForTests } from '../../../../scripts/kubectl-for-tests.ts'

const hasKubectl = kubectlForTests()

/** Twins: what kubectl does to one of them, we do to the other. */
const theirs = { namespace: 'kubectl', name: 'agent' }
const ours = { namespace: 'tranche', name: 'agent' }

let folder: string
let sim: Simulator
let server: HttpsServer
let client: KubeClient

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-parity-'))
  sim = createSimulator({ clock: systemClock, nodes: 1, watchDelayMs: 1 })
  server = await listen(sim.front, { port: 0 })
  writeFileSync(join(folder, 'ca.crt'), server.caCertificate)
  await sim.start()
  client = createKubeClient({ exchange: sim.exchangeFor('admin'), clock: systemClock, userAgent: 'tester/1', log: silentLogger })
  for (const key of [theirs, ours]) {
    await client.create(resourcePaths.namespaces, { metadata: { name: key.namespace } })
    await client.create(resourcePaths.daemonSets, manifest(key.namespace))
    await observed(key)
    for (const tag of ['2', '3']) {
      const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: `agent:${tag}` }] } } } }
      await client.patch(resourcePaths.daemonSets, key, { type: 'strategic', body })
      await observed(key)
    }
  }
})

afterAll(async () => {
  sim.stop()
  await server.close()
  rmSync(folder, { recursive: true })
})

describe.skipIf(!hasKubectl)('the same result as kubectl', () => {
  // One after the other: each begins where the one before has ended.
  it.each<{ words: readonly string[]; action: Pick<ActionOrder, 'type' | 'body'>; image: string }>([
    { words: ['undo'], action: { type: 'undo', body: {} }, image: 'agent:2' },
    { words: ['undo'], action: { type: 'undo', body: {} }, image: 'agent:3' },
    { words: ['undo', '--to-revision=1'], action: { type: 'undo', body: { toRevision: '1' } }, image: 'agent:1' },
    { words: ['restart'], action: { type: 'restart', body: {} }, image: 'agent:1' },
    { words: ['undo', '--to-revision=5'], action: { type: 'undo', body: { toRevision: '5' } }, image: 'agent:3' },
  ])('is the template after rollout $words', async ({ words: [verb = '', ...flags], action, image }) => {
    await kubectl('rollout', verb, 'daemonset/agent', ...flags)
    const ports = { client, clock: systemClock, log: silentLogger, component: 'tranche-cli' }
    await carryOut(ports, { on: 'DaemonSet', key: ours, by: 'alice', via: 'cli', waitMs: 0, ...action })
    const [after, wanted] = await Promise.all([observed(ours), observed(theirs)])
    expect(comparable(after)).toEqual(comparable(wanted))
    expect(after.spec.template.spec?.containers?.[0]?.image).toBe(image)
  })

  it('is refused if kubectl does not know the revision, and if there is nothing to do', async () => {
    const undo = (toRevision: string): Promise<unknown> =>
      carryOut(
        { client, clock: systemClock, log: silentLogger, component: 'tranche-cli' },
        { on: 'DaemonSet', key: ours, type: 'undo', body: { toRevision }, by: 'alice', via: 'cli', waitMs: 0 },
      )
    await expect(undo('8')).rejects.toMatchObject({ code: 'ACTION_REJECTED' })
    await expect(kubectl('rollout', 'undo', 'daemonset/agent', '--to-revision=77')).rejects.toMatchObject({
      stderr: expect.stringContaining('unable to find specified revision'),
    })
    await expect(undo('77')).rejects.toMatchObject({ code: 'REVISION_NOT_FOUND' })
  })
})

/** All that people have said of it and that kubectl changes; the moment of a restart is each its own. */
function comparable({ metadata, spec }: DaemonSet): unknown {
  const { [RECORDED_ACTIONS_ANNOTATION]: _ours, ...annotations } = metadata.annotations ?? {}
  const text = JSON.stringify({ annotations, labels: metadata.labels, generation: metadata.generation, spec })
  return JSON.parse(
    text.replace(/("kubectl.kubernetes.io\/restartedAt":)"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)"/g, '$1"then"'),
  ) as unknown
}

/** Resolves with the DaemonSet once its controller has seen what it says, and so has made a revision of it. */
async function observed(key: typeof ours): Promise<DaemonSet> {
  const first = await client.get<DaemonSet>(resourcePaths.daemonSets, key)
  if (isObserved(first)) return first
  const { resourceVersion } = first.metadata
  for await (const event of client.watch<DaemonSet>(resourcePaths.daemonSets, { namespace: key.namespace, resourceVersion }))
    if (event.type !== 'BOOKMARK' && isObserved(event.object)) return event.object
  throw new Error('the watch has ended')
}

function isObserved({ metadata, status }: DaemonSet): boolean {
  return status?.observedGeneration === metadata.generation
}

function manifest(namespace: string): { readonly metadata: { readonly name: string; readonly namespace: string } } {
  const template = { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'agent', image: 'agent:1' }] } }
  const spec = { selector: { matchLabels: { app: 'agent' } }, updateStrategy: { type: 'OnDelete' }, template }
  const metadata = { name: 'agent', namespace, annotations: { 'kubernetes.io/change-cause': 'first' } }
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec } as { readonly metadata: typeof metadata }
}

function kubectl(...words: readonly string[]): Promise<unknown> {
  const access = [`--server=${server.url}`, `--certificate-authority=${join(folder, 'ca.crt')}`, `--token=${sim.adminToken}`]
  const args = [...access, '--kubeconfig=/dev/null', `--cache-dir=${join(folder, 'cache')}`, '--namespace', theirs.namespace, ...words]
  return promisify(execFile)('kubectl', args, { encoding: 'utf8' })
}
