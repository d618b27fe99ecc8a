import { type KubeClient, createKubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { createKubeReleaseClient, type FollowEnd, type SeenRelease } from '@tranche/release-client'
import { afterEach, describe, expect, it } from 'vitest'
import { untilPausedAt, untilReleased } from './looks.ts'
import { createRequestLog, type RequestLog } from './requests.ts'
import { setStage, type Stage } from './stage.ts'
import { daemonSetManifest, stageKey } from './stage-objects.ts'

let stage: Stage
let stop: AbortController
let requests: RequestLog
/** Pictures shown so far, newest last. */
let shown: Shown[]
interface Shown {
  readonly image: string | undefined
  readonly updated: number
  /** Number of nodes whose pod is Ready, but not yet for minReadySeconds. */
  readonly ready: number
  readonly step: string
  readonly trouble: boolean
}
let end: FollowEnd | Error | undefined

afterEach(async () => {
  stop.abort()
  await stage.end()
})

const steps = [{ replicas: '20%', pause: {} }, { replicas: '100%' }]

/** A person starts to follow the Rollout, until the test ends. */
async function look(nodes = 10, minReadySeconds = 0): Promise<void> {
  stage = await setStage({ nodes, maxUnavailable: 2, steps, minReadySeconds })
  stop = new AbortController()
  requests = createRequestLog()
  shown = []
  end = undefined
  const { clock, simulator } = stage
  const exchange = requests.tap('person', simulator.exchangeFor('person'))
  const client: KubeClient = createKubeClient({ exchange, clock, userAgent: 'tranche-cli/1', log: silentLogger })
  const releaseClient = createKubeReleaseClient({ client, clock, log: silentLogger, component: 'tranche-cli', via: 'cli' })
  void follow(releaseClient.follow!(stageKey, { part: 'picture', signal: stop.signal }))
}

async function follow(seen: AsyncGenerator<SeenRelease<'picture'>, FollowEnd, undefined>): Promise<void> {
  try {
    for (;;) {
      const next = await seen.next()
      if (next.done === true) return void (end = next.value)
      const { report, nodes, revisions } = next.value.value
      const [newest] = revisions
      const updated = nodes.filter(({ state }) => state === 'updated').length
      const ready = nodes.filter(({ why }) => why?.startsWith('Ready, but') === true).length
      const trouble = next.value.trouble !== undefined
      shown.push({ image: newest?.images[0], updated, ready, step: report.step?.state ?? '', trouble })
    }
  } catch (error) {
    end = error as Error
  }
}

const lists = (): readonly string[] => requests.sent().flatMap(({ what }) => (what.startsWith('GET') ? [what] : []))
const untilShown = (what: string, is: (last: (typeof shown)[number]) => boolean): Promise<void> =>
  stage.until(`it is shown that ${what}`, () => shown.length > 0 && is(shown.at(-1)!))
const ofPerson = (fault: NonNullable<FaultInjector['onRequest']>): (() => void) =>
  stage.disturb({ onRequest: (call) => (call.actor === 'person' ? fault(call) : undefined) })

describe('following a Rollout', () => {
  it('reads everything once, however long a release takes, and shows each state of it', async () => {
    await look()
    await untilShown('it is read', () => true)
    const before = lists()
    expect(before.toSorted()).toEqual(
      [
        'GET /api/v1/namespaces/demo/pods',
        'GET /api/v1/nodes',
        'GET /apis/apps/v1/namespaces/demo/controllerrevisions',
        'GET /apis/apps/v1/namespaces/demo/daemonsets',
        'GET /apis/rollouts.kruise.io/v1beta1/namespaces/demo/batchreleases',
        'GET /apis/rollouts.kruise.io/v1beta1/namespaces/demo/rollouts',
      ].toSorted(),
    )
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await untilShown('it is paused', ({ step, updated }) => step === 'StepPaused' && updated === 2)
    await stage.approve()
    await untilReleased(stage, 'v2')
    await untilShown('every node is updated', ({ updated }) => updated === 10)
    expect(lists()).toEqual(before)
    expect(shown.every(({ trouble }) => !trouble)).toBe(true)
    // With 10 nodes, 2 at a time, one picture for each change would be hundreds.
    expect(shown.length).toBeLessThan(150)
  })

  it('continues when watches break, a version has expired (410) and the API server is down, and reports the trouble meanwhile', async () => {
    await look()
    await untilShown('it is read', () => true)
    const endDisturbance = stage.disturb({
      onEvent: ({ actor, event, watch }) =>
        actor !== 'person' ? undefined : event % 7 === 0 ? { kind: 'gap' } : watch % 3 === 0 ? { kind: 'cut' } : undefined,
    })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    endDisturbance()
    const back = ofPerson(() => ({ kind: 'error', error: new ApiStatusError(503, 'ServiceUnavailable', 'it restarts') }))
    stage.disturb({ onEvent: ({ actor, event }) => (actor === 'person' && event === 1 ? { kind: 'cut' } : undefined) })
    await stage.approve()
    await untilShown('something is wrong', ({ trouble }) => trouble)
    back()
    await untilReleased(stage, 'v2')
    await untilShown('all is well and every node is updated', ({ trouble, updated }) => !trouble && updated === 10)
    expect(end).toBeUndefined()
  })

  it('makes no pod available by the clock alone while the API server is down', async () => {
    await look(5, 60)
    await untilShown('every node is updated', ({ updated }) => updated === 5)
    await stage.setImage('v2')
    await untilShown('a pod is Ready, and not yet available', ({ updated, ready }) => updated === 0 && ready === 1)
    const back = ofPerson(() => ({ kind: 'error', error: new ApiStatusError(503, 'ServiceUnavailable', 'it restarts') }))
    stage.disturb({ onEvent: ({ actor }) => (actor === 'person' ? { kind: 'cut' } : undefined) })
    await untilShown('something is wrong', ({ trouble }) => trouble)
    const looks = shown.length
    await stage.pass(120_000)
    expect(shown.slice(looks).map(({ updated }) => updated)).toEqual(Array(shown.length - looks).fill(0))
    expect(shown.length).toBeGreaterThan(looks)
    back()
  })

  it('follows the DaemonSet when it is created again', async () => {
    await look(3)
    await untilShown('it is read', ({ updated }) => updated === 3)
    await stage.client.delete(resourcePaths.daemonSets, stageKey)
    await untilShown('no revision is there', ({ image }) => image === undefined)
    await stage.client.create(resourcePaths.daemonSets, daemonSetManifest({}) as never)
    await untilShown('its pods run', ({ updated, image }) => updated === 3 && image !== undefined)
  })

  it('ends when the Rollout is deleted, and when it is stopped', async () => {
    await look(2)
    await untilShown('it is read', () => true)
    await stage.client.delete(resourcePaths.rollouts, stageKey)
    await stage.until('it has ended', () => end !== undefined)
    expect(end).toMatchObject({ code: 'ROLLOUT_NOT_FOUND' })
    await stage.end()
    await look(2)
    await untilShown('it is read', () => true)
    stop.abort()
    await stage.until('it has ended', () => end !== undefined)
    expect(end).toBe('stopped')
  })

  it('reports that the user may read, but not watch', async () => {
    await look(2)
    const forbidden = new ApiStatusError(403, 'Forbidden', 'may not watch pods')
    ofPerson(({ verb, resource }) => (verb === 'watch' && resource.resource === 'pods' ? { kind: 'error', error: forbidden } : undefined))
    await stage.until('it has ended', () => end !== undefined)
    expect(end).toBe('unwatchable')
  })
})
