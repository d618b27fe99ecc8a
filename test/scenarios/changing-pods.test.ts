import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { TOUCHED_ANNOTATION } from '@tranche/kube-types'
import type { Exchange } from '@tranche/wire'
import { expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { daemonSetManifest, rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '20%', pause: {} }, { replicas: '100%' }]
/** Duration of a live read on a busy API server. At ten changes a second, a pod changes between the two reads of an opening. */
const READ_MS = 100

describe('pods that change ten times a second', () => {
  it('do not keep a release from opening, or from opening again after a pause (F9, G6)', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
    slowReads()
    const changes = changePods(100)
    await stage.setImage('v2')
    await untilPausedAt(stage, 1, 60_000)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('it is paused', async () => (await condition(stage, 'Progressing'))?.reason === 'Paused', 30_000)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await stage.approve()
    await untilReleased(stage, 'v2', 120_000)
    expect(changes.perSecond()).toBeGreaterThan(9)
    changes.end()
    expectKept(stage)
  })

  it('because all of them crash do not keep the fix from being released (F9, G6)', async () => {
    const crashing = { 'sim.tranche.dev/late-ms': '1500', 'sim.tranche.dev/start-ms': '100', 'sim.tranche.dev/jitter-ms': '700' }
    stage = await setStage({ nodes: 30, maxUnavailable: 3, withRollout: false, annotations: crashing })
    await stage.setImage('v2-bad-restart')
    await untilNodesOn(stage, 'v2-bad-restart', 30)
    await stage.client.create(resourcePaths.rollouts, rolloutManifest({ steps }) as never)
    await stage.until('the Rollout is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
    slowReads()
    const before = podChanges()
    await stage.pass(10_000)
    expect(podChanges() - before).toBeGreaterThan(100)
    await stage.setImage('v3')
    await untilPausedAt(stage, 1, 120_000)
    await stage.approve()
    await untilReleased(stage, 'v3', 300_000)
    expectKept(stage)
  })
})

describe('a DaemonSet that is replaced by force in mid-release', () => {
  it.each([
    ['Background', 'v2'],
    ['Background', 'v1'],
    ['Orphan', 'v2'],
    ['Orphan', 'v1'],
  ] as const)('(%s, to %s) has each pod touched at most once, and its release ends (F9, F11, G6)', async (cascade, tag) => {
    const touches = createTouchLog()
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, tap: touches.tap })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    slowReads()
    const changes = changePods(100)
    await replaceByForce(cascade, tag)
    await stage.pass(30_000)
    expect([...touches.perPod().entries()].filter(([, count]) => count > 1)).toEqual([])
    const { uid } = (await stage.daemonSet()).metadata
    expect((await stage.release())?.status?.flight?.workloadUid ?? uid).toBe(uid)
    if (tag === 'v2') await stage.approve()
    await untilReleased(stage, tag, 120_000)
    expect(await nodesOn(stage, tag)).toHaveLength(10)
    expect([...touches.perPod().entries()].filter(([, count]) => count > 2)).toEqual([])
    changes.end()
  })
})

/** Like `kubectl replace --force`, which deletes, waits and creates. `Orphan` is `--cascade=orphan`. */
async function replaceByForce(propagationPolicy: 'Background' | 'Orphan', tag: string): Promise<void> {
  await stage.client.delete(resourcePaths.daemonSets, stageKey, { propagationPolicy })
  const isGone = (): Promise<boolean> =>
    stage.daemonSet().then(
      () => false,
      () => true,
    )
  await stage.until('it is gone', isGone)
  await stage.client.create(resourcePaths.daemonSets, daemonSetManifest({ maxUnavailable: 2 }, tag) as never)
}

function slowReads(): void {
  stage.disturb({
    onRequest: ({ actor, verb }) =>
      actor.startsWith('controller-') && verb === 'get' ? { kind: 'delay', ms: READ_MS, when: 'before' } : undefined,
  })
}

interface Changes {
  perSecond(): number
  end(): void
}

/** Changes an annotation of one pod after the other, every `everyMs`, as often as the kubelets of a busy fleet write. */
function changePods(everyMs: number): Changes {
  const sinceMs = stage.clock.monotonicMs()
  let changed = 0
  let isOn = true
  const change = async (): Promise<void> => {
    if (!isOn) return
    stage.clock.setTimer(everyMs, () => void change())
    const pods = await stage.pods()
    const pod = pods[changed % Math.max(1, pods.length)]
    if (pod === undefined) return
    changed++
    const body = { metadata: { annotations: { 'example.com/seen': String(changed) } } }
    const key = { namespace: stageKey.namespace, name: pod.metadata.name }
    // The pod may be gone by now.
    await stage.client.patch(resourcePaths.pods, key, { type: 'merge', body }).catch(() => {})
  }
  stage.clock.setTimer(everyMs, () => void change())
  return {
    perSecond: () => changed / ((stage.clock.monotonicMs() - sinceMs) / 1000),
    end: () => void (isOn = false),
  }
}

interface TouchLog {
  readonly tap: (identity: string, exchange: Exchange) => Exchange
  /** Number of touches that Tranche sent, by pod name. */
  perPod(): ReadonlyMap<string, number>
}

function createTouchLog(): TouchLog {
  const counts = new Map<string, number>()
  return {
    tap: (_identity, exchange) => (request, signal) => {
      const pod = /\/pods\/([^/?]+)/.exec(request.path)?.[1]
      if (request.method === 'PATCH' && pod !== undefined && request.body?.includes(TOUCHED_ANNOTATION) === true)
        counts.set(pod, (counts.get(pod) ?? 0) + 1)
      return exchange(request, signal)
    },
    perPod: () => counts,
  }
}

function podChanges(): number {
  return stage.recording().filter(({ kind, type }) => kind === 'Pod' && type === 'MODIFIED').length
}
