import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HistoryReport, Rollout } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import {
  createKubeClient,
  createUndiciExchange,
  type KubeClient,
  loadKubeConfig,
  resourcePaths,
  type UndiciExchange,
} from '@tranche/kube-client'
import type { ControllerRevision } from '@tranche/kube-types'
import { launch } from '@tranche/launcher'
import { silentLogger } from '@tranche/telemetry'
import { readRecording } from '@tranche/recording'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

const key = { namespace: 'default', name: 'agent' }
let folder: string
let kubeconfig: string
let record: string
let cluster: ChildProcess
let sockets: UndiciExchange | undefined
/** Sends what the plugin `kubectl kruise` sends. */
let kruise: KubeClient

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  kubeconfig = join(folder, 'kubeconfig')
  record = join(folder, 'record.jsonl')
  const ready = join(folder, 'ready.json')
  const args = ['dev', '--no-demo', '--nodes', '3', '--speed', '50', '--ready-file', ready, '--kubeconfig', kubeconfig, '--record', record]
  cluster = spawn(process.execPath, ['apps/launcher/bin/tranche.mjs', ...args], { stdio: 'ignore' })
  await vi.waitUntil(() => existsSync(ready), { timeout: 60_000, interval: 50 })
  sockets = createUndiciExchange(await loadKubeConfig({ clock: systemClock, path: kubeconfig, env: {} }))
  kruise = createKubeClient({ exchange: sockets.exchange, clock: systemClock, log: silentLogger, userAgent: 'kubectl-kruise/v1.0.0' })
  await kruise.create(resourcePaths.releasePolicies, policy)
  await kruise.create(resourcePaths.daemonSets, daemonSet)
  await kruise.create(resourcePaths.rollouts, rollout)
  await vi.waitUntil(async () => (await status())?.phase === 'Healthy', { timeout: 60_000, interval: 50 })
})

afterAll(async () => {
  await sockets?.close()
  const ended = new Promise((resolve) => cluster.on('exit', resolve))
  cluster.kill('SIGINT')
  await ended
  rmSync(folder, { recursive: true, force: true })
})

describe('a whole release, and the record of who did what', () => {
  it('by the command line alone: started, paused, approved and completed', async () => {
    await tranche('restart agent --reason certificates --wait')
    expect(await tranche('status agent --timeout 1m')).toMatchObject({ code: 3 })
    await tranche('pause agent --reason lunch --wait')
    await tranche('resume agent --wait')
    await tranche('approve agent --reason fine --wait')
    expect(await tranche('status agent --timeout 1m')).toMatchObject({ code: 0 })

    const { actions } = JSON.parse((await tranche('history agent -o json')).out) as HistoryReport
    expect(actions.map(({ type, by, via, reason = '' }) => [type, by, via, reason])).toEqual([
      ['approve', 'admin', 'cli', 'fine'],
      ['resume', 'admin', 'cli', ''],
      ['pause', 'admin', 'cli', 'lunch'],
      ['restart', 'admin', 'cli', 'certificates'],
    ])
    expect(await eventsOf('ActionRequested')).toHaveLength(4)
    expect(actionsIn(record)).toEqual(['patch daemonsets', 'patch rollouts', 'patch rollouts', 'patch rollouts'])
  })

  it('by the patches of kubectl kruise alone: undone, paused, resumed and approved, each named as far as the API server does', async () => {
    const before = actionsIn(record).length
    await undo()
    await untilProgressing('InRolling', 'StepPaused')
    await kruise.patch(resourcePaths.rollouts, key, { type: 'merge', body: { spec: { strategy: { paused: true } } } })
    await untilProgressing('Paused', 'StepPaused')
    expect((await tranche('get agent')).out).toContain('tranche resume agent -n default')
    await kruise.patch(resourcePaths.rollouts, key, { type: 'merge', body: { spec: { strategy: { paused: null } } } })
    await untilProgressing('InRolling', 'StepPaused')
    const approval = { status: { canaryStatus: { currentStepState: 'StepReady' } } }
    await kruise.patch(resourcePaths.rollouts, key, { type: 'merge', body: approval }, { subresource: 'status' })
    expect(await tranche('status agent --timeout 1m')).toMatchObject({ code: 0 })

    const { actions, revisions, observedChanges } = await untilSeen(4)
    expect(actions).toHaveLength(4)
    // Both the resume and this undo take something away, and who does that is named nowhere.
    expect(observedChanges.map(({ type, manager = 'no manager', step }) => [type, manager, step])).toEqual([
      ['approve', 'kubectl-kruise', 1],
      ['resume', 'no manager', undefined],
      ['pause', 'kubectl-kruise', undefined],
      ['template', 'no manager', undefined],
    ])
    expect((await tranche('history agent')).out).toMatch(/approve at step 1 +seen +unknown +kubectl-kruise/)
    expect(await historyOverRest()).toEqual({ actions, observedChanges })
    expect(revisions.map(({ number, nodes }) => [number, nodes])).toEqual([
      [3, 3],
      [2, 0],
    ])
    expect(actionsIn(record).slice(before)).toEqual(['patch daemonsets', 'patch rollouts', 'patch rollouts', 'patch rollouts/status'])
  })
})

const labels = { app: 'agent' }
const policy = {
  apiVersion: 'tranche.dev/v1alpha1',
  kind: 'ReleasePolicy',
  metadata: { ...key, name: 'at-once' },
  spec: { soak: { final: '0s' } },
}
const daemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: key,
  spec: {
    selector: { matchLabels: labels },
    updateStrategy: { type: 'OnDelete' },
    template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] } },
  },
}
const rollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: { ...key, annotations: { 'tranche.dev/release-policy': 'at-once' } },
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: key.name },
    strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } },
  },
}

async function status(): Promise<Rollout['status']> {
  return (await kruise.get<Rollout>(resourcePaths.rollouts, key)).status
}

async function untilProgressing(reason: string, state: string): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    const { conditions = [], canaryStatus } = (await status()) ?? {}
    return canaryStatus?.currentStepState === state && conditions.some((one) => one.type === 'Progressing' && one.reason === reason)
  }
  await vi.waitUntil(isThere, { timeout: 60_000, interval: 50 })
}

/** The second-newest revision, as a strategic merge patch of the DaemonSet. */
async function undo(): Promise<void> {
  const { items } = await kruise.list<ControllerRevision>(resourcePaths.controllerRevisions, { namespace: key.namespace })
  const [, second] = items.toSorted((a, b) => b.revision - a.revision)
  await kruise.patch(resourcePaths.daemonSets, key, { type: 'strategic', body: second!.data as object })
}

async function eventsOf(reason: string): Promise<readonly object[]> {
  const scope = { namespace: key.namespace, fieldSelector: `reason=${reason}` }
  return (await kruise.list<{ readonly metadata: never }>(resourcePaths.events, scope)).items
}

/** Accepted writes of people to Rollout and DaemonSet. */
function actionsIn(path: string): readonly string[] {
  return readRecording(readFileSync(path, 'utf8').split('\n')).flatMap(({ actor, verb, resource }) =>
    actor === 'admin' && verb === 'patch' ? [`${verb} ${resource}`] : [],
  )
}

/** Changes of other clients are recorded a second later. */
async function untilSeen(acts: number): Promise<HistoryReport> {
  const read = async (): Promise<HistoryReport> => JSON.parse((await tranche('history agent -o json')).out) as HistoryReport
  await vi.waitUntil(async () => (await read()).observedChanges.length >= acts, { timeout: 60_000, interval: 100 })
  return read()
}

async function historyOverRest(): Promise<Pick<HistoryReport, 'actions' | 'observedChanges'>> {
  const { api, apiToken } = JSON.parse(readFileSync(join(folder, 'ready.json'), 'utf8')) as {
    readonly api: string
    readonly apiToken: string
  }
  const url = `${api}/api/v1/namespaces/${key.namespace}/rollouts/${key.name}/history`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${apiToken}` } })
  const { actions, observedChanges } = (await answer.json()) as HistoryReport
  return { actions, observedChanges }
}

async function tranche(line: string): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const texts = { out: '', err: '' }
  const code = await launch([...line.split(' '), '-n', key.namespace, '--kubeconfig', kubeconfig], {
    out: { write: (text) => void (texts.out += text) },
    err: { write: (text) => void (texts.err += text), columns: 200 },
    env: {},
  })
  return { code, ...texts }
}
