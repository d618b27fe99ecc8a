import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from '@tranche/clock'
import { createSimulator, type Simulator } from '@tranche/sim'
import { type HttpsServer, listen, resources } from '@tranche/sim-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kubectlForTests } from '../../../../scripts/kubectl-for-tests.ts'
import { daemonSet, namespace } from './harness.ts'

const hasKubectl = kubectlForTests()

let folder: string
let sim: Simulator
let server: HttpsServer

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-kubectl-'))
  sim = createSimulator({ clock: systemClock, nodes: 3, watchDelayMs: 5 })
  server = await listen(sim.front, { port: 0 })
  writeFileSync(join(folder, 'ca.crt'), server.caCertificate)
  await sim.start()
  const admin = sim.clientFor({ name: 'admin' })
  await admin.create(resources.namespaces, { metadata: { name: namespace } })
  await admin.create(
    resources.daemonSets,
    daemonSet({ annotations: { 'sim.tranche.dev/start-ms': '20', 'sim.tranche.dev/stop-ms': '20' } }),
  )
  await addPod('web', 'node-001')
  await running(4)
})

afterAll(async () => {
  sim.stop()
  await server.close()
  rmSync(folder, { recursive: true })
})

describe.skipIf(!hasKubectl)('kubectl', () => {
  it('drains a node except for DaemonSet pods', async () => {
    const { stdout, stderr } = await kubectl('drain', 'node-001', '--ignore-daemonsets', '--force')
    // kubectl names them in no order.
    expect(stderr).toMatch(/ignoring DaemonSet-managed Pods: demo\/agent-\w+/)
    expect(stderr).toContain('deleting Pods that declare no controller: demo/web')
    expect(stdout).toMatch(/node\/node-001 cordoned.*evicting pod demo\/web.*pod\/web evicted.*node\/node-001 drained/s)
    expect(await podsOn('node-001')).toEqual(['agent'])
    await kubectl('uncordon', 'node-001')
  })

  it('waits in a drain until a disruption budget allows the eviction', async () => {
    await addPod('db', 'node-002')
    await running(4)
    await create('policy/v1', 'PodDisruptionBudget', 'db', { minAvailable: 1, selector: { matchLabels: { app: 'db' } } })
    await until(async () => (await kubectl('get', 'pdb', 'db', '-o', 'jsonpath={.status.currentHealthy}')).stdout === '1')
    expect((await kubectl('get', 'pdb', 'db', '--no-headers')).stdout).toMatch(/^db\s+1\s+N\/A\s+0\s+/)
    const draining = start('drain', 'node-002', '--ignore-daemonsets', '--force')
    await draining.says(/error when evicting pods\/"db" -n "demo" \(will retry after 5s\): Cannot evict pod as it would violate/)
    expect(await podsOn('node-002')).toEqual(['agent', 'db'])
    await kubectl('delete', 'pdb', 'db')
    expect(await draining.ended).toBe(0)
    expect(await podsOn('node-002')).toEqual(['agent'])
    await kubectl('uncordon', 'node-002')
  })

  it('deletes a DaemonSet and leaves its pods, or waits for them', async () => {
    const uids = await kubectl('get', 'pods', '-o', 'jsonpath={.items[*].metadata.uid}')
    await kubectl('delete', 'daemonset', 'agent', '--cascade=orphan')
    expect(await kubectl('get', 'pods', '-o', 'jsonpath={.items[*].metadata.uid}')).toEqual(uids)
    writeFileSync(join(folder, 'agent.json'), JSON.stringify(daemonSet()))
    await kubectl('create', '-f', join(folder, 'agent.json'))
    await until(async () => (await kubectl('get', 'ds', 'agent', '-o', 'jsonpath={.status.numberReady}')).stdout === '3')
    expect(await kubectl('get', 'pods', '-o', 'jsonpath={.items[*].metadata.uid}')).toEqual(uids)
    await kubectl('delete', 'daemonset', 'agent', '--cascade=foreground')
    expect((await kubectl('get', 'pods', '-o', 'name')).stdout).toBe('')
  })

  it('deletes a pod at once with --force', async () => {
    await addPod('slow', 'node-003', { 'sim.tranche.dev/stop-ms': '600000' })
    await running(1)
    const { stdout } = await kubectl('delete', 'pod', 'slow', '--force', '--grace-period=0')
    expect(stdout).toContain('pod "slow" force deleted')
    expect((await kubectl('get', 'pods', '-o', 'name')).stdout).toBe('')
  })

  it('waits for the deletion of a namespace and its objects', async () => {
    await kubectl('create', 'namespace', 'team')
    await kubectl('-n', 'team', 'create', 'configmap', 'settings')
    expect((await kubectl('delete', 'namespace', 'team')).stdout).toContain('namespace "team" deleted')
    await expect(kubectl('get', 'namespace', 'team')).rejects.toMatchObject({ stderr: expect.stringContaining('NotFound') })
    await expect(kubectl('delete', 'namespace', 'kube-system')).rejects.toMatchObject({
      stderr: expect.stringContaining('namespaces "kube-system" is forbidden: this namespace may not be deleted'),
    })
  })

  it('shows a quota, and refuses an object beyond it', async () => {
    await create('v1', 'ResourceQuota', 'few', { hard: { configmaps: '1' } })
    await until(async () => (await kubectl('get', 'quota', 'few', '--no-headers')).stdout.includes('configmaps: '))
    await kubectl('create', 'configmap', 'one')
    await expect(kubectl('create', 'configmap', 'more')).rejects.toMatchObject({
      stderr: expect.stringContaining('configmaps "more" is forbidden: exceeded quota: few, requested: configmaps=1, used: configmaps=1'),
    })
  })
})

function argumentsOf(words: readonly string[]): readonly string[] {
  const access = [`--server=${server.url}`, `--certificate-authority=${join(folder, 'ca.crt')}`, `--token=${sim.adminToken}`]
  return [...access, '--kubeconfig=/dev/null', `--cache-dir=${join(folder, 'cache')}`, '--namespace', namespace, ...words]
}

function kubectl(...words: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)('kubectl', argumentsOf(words), { encoding: 'utf8' })
}

async function create(apiVersion: string, kind: string, name: string, spec: object): Promise<void> {
  const file = join(folder, `${name}.json`)
  writeFileSync(file, JSON.stringify({ apiVersion, kind, metadata: { name }, spec }))
  await kubectl('create', '-f', file)
}

/** Starts kubectl without waiting for it. */
function start(...words: readonly string[]): { says(text: RegExp): Promise<void>; readonly ended: Promise<number | null> } {
  const child: ChildProcess = spawn('kubectl', argumentsOf(words))
  let said = ''
  const listeners = new Set<() => void>()
  const hear = (chunk: Buffer): void => {
    said += chunk.toString()
    for (const listener of listeners) listener()
  }
  child.stdout!.on('data', hear)
  child.stderr!.on('data', hear)
  return {
    says: (text) => new Promise((resolve) => listeners.add(() => text.test(said) && resolve())),
    ended: new Promise((resolve) => child.once('exit', resolve)),
  }
}

async function addPod(name: string, nodeName: string, annotations: object = {}): Promise<void> {
  const short = { 'sim.tranche.dev/start-ms': '20', 'sim.tranche.dev/stop-ms': '20' }
  await sim.clientFor({ name: 'admin' }).create(resources.pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name }, annotations: { ...short, ...annotations } },
    spec: { nodeName, containers: [{ name: 'main', image: 'main:v1' }] },
  })
}

async function podsOn(nodeName: string): Promise<readonly string[]> {
  const { stdout } = await kubectl(
    'get',
    'pods',
    `--field-selector=spec.nodeName=${nodeName}`,
    '-o',
    'jsonpath={.items[*].metadata.labels.app}',
  )
  return stdout.split(' ').sort()
}

/** Resolves when this number of pods is ready. */
function running(count: number): Promise<void> {
  return new Promise((resolve) => {
    const ready = new Set<string>()
    const watching = sim.clientFor({ name: 'tester' }).watch(resources.pods, { namespace }, (event) => {
      if (event.type === 'SYNCED') return
      const { conditions = [] } = (event.object['status'] ?? {}) as { readonly conditions?: readonly { type: string; status: string }[] }
      const isReady = event.type !== 'DELETED' && conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
      if (isReady) ready.add(event.object.metadata.uid)
      else ready.delete(event.object.metadata.uid)
      if (ready.size < count) return
      watching.stop()
      resolve()
    })
  })
}

/** Asks again until it is so; each question is a kubectl of its own, which takes its time. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}
