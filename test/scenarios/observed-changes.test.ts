import { type RunningChangeObserver, startChangeObserver } from '@tranche/controller'
import { createKubeClient, resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { carryOut, type ActionOrder } from '@tranche/release-client'
import { observedChangesOf } from '@tranche/actions'
import type { Exchange } from '@tranche/wire'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineBy } from './definitions.ts'
import { untilPausedAt } from './looks.ts'
import { drive, setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }
let stage: Stage
let changeObservers: RunningChangeObserver[]

beforeEach(async () => {
  stage = await setStage({ nodes: 4, steps: [{ replicas: 1, pause: {} }, { replicas: 2, pause: {} }, { replicas: '100%' }] })
  changeObservers = []
})

afterEach(async () => {
  await drive(stage.clock, Promise.all(changeObservers.map((one) => one.stop())))
  await stage.end()
})

async function watch(mayWrite: () => boolean = () => true, given?: Exchange): Promise<void> {
  const exchange = given ?? stage.simulator.exchangeFor('controller-1', 'everything')
  changeObservers.push(startChangeObserver({ exchange, clock: stage.clock, log: silentLogger, mayWrite }))
  await stage.pass(1_000)
}

/** Observed changes of the Rollout, oldest first, one line each. */
async function seen(): Promise<readonly string[]> {
  await stage.pass(5_000)
  return observedChangesOf(await stage.rollout()).map(({ type, manager = 'an unnamed program', step, reason }) =>
    [type, ...(step === undefined ? [] : [step]), `by ${manager}`, ...(reason === undefined ? [] : [`because ${reason}`])].join(' '),
  )
}

async function ask(order: Pick<ActionOrder, 'type' | 'body'> & Partial<ActionOrder>, program = 'tranche-api'): Promise<void> {
  const { clock, simulator } = stage
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: `${program}/1`, log: silentLogger })
  const ports = { client, clock, log: silentLogger, component: 'tranche-api' }
  await drive(clock, carryOut(ports, { on: 'Rollout', key: stageKey, by: 'alice', via: 'rest', waitMs: 60_000, ...order }))
}

describe('a change that Tranche did not write', () => {
  it('is recorded with the program that wrote it, if the API server names one', async () => {
    await watch()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.pass(1_000)
    await stage.patchRollout({ spec: { strategy: { paused: null } } })
    await stage.pass(1_000)
    await stage.approve()
    await untilPausedAt(stage, 2)
    expect(await seen()).toEqual(['template by story', 'pause by story', 'resume by an unnamed program', 'approve 1 by story'])
  })

  it('is recorded only once definitions are back that keep the status of the Rollout (F11)', async () => {
    await watch()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await defineBy(stage.client, 'theirs')
    expect(await seen()).toEqual(['template by story'])
    await defineBy(stage.client, 'ours')
    expect(await seen()).toEqual(['template by story', 'pause by story'])
  })

  it('is recorded before all but one of the many changes in another namespace', async () => {
    const { client } = stage
    const written: string[] = []
    const exchange: Exchange = (request, signal) => {
      if (request.method === 'PATCH') written.push(request.path.split('/')[5] ?? '')
      return stage.simulator.exchangeFor('controller-1', 'everything')(request, signal)
    }
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant' } })
    const names = Array.from({ length: 20 }, (_, at) => `r-${at}`)
    const { spec } = await stage.rollout()
    const rollout = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', spec }
    for (const name of names) await client.create(resourcePaths.rollouts, { ...rollout, metadata: { namespace: 'tenant', name } })
    await stage.pass(5_000)
    await watch(() => true, exchange)
    const pause = { type: 'merge', body: { spec: { strategy: { paused: true } } } } as const
    await Promise.all(names.map((name) => client.patch(resourcePaths.rollouts, { namespace: 'tenant', name }, pause)))
    await stage.patchRollout(pause.body)
    expect(await seen()).toEqual(['pause by story'])
    expect([written.length, written.indexOf(stageKey.namespace)]).toEqual([21, 1])
  })

  it('joins the changes that the previous version observed, whose annotation is removed', async () => {
    const former = { id: 'seen-1-pause', type: 'pause', at: '2023-11-14T22:13:20Z', manager: 'kubectl' }
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/seen-actions': JSON.stringify([former]) } } })
    await watch()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    expect(await seen()).toEqual(['pause by kubectl', 'template by story'])
    expect((await stage.rollout()).metadata.annotations).not.toHaveProperty(['tranche.dev/seen-actions'])
  })

  it('can be an annotated action, a jump in the status, or an end of control', async () => {
    await watch()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const jump = { status: { canaryStatus: { nextStepIndex: 3 } } }
    await stage.client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body: jump }, { subresource: 'status' })
    await stage.pass(200)
    const action = { id: '1', type: 'abort', by: 'me', reason: 'INC-4711' }
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })
    await stage.pass(60_000)
    await stage.patchRollout({ spec: { disabled: true } })
    expect(await seen()).toEqual(['template by story', 'jump 3 by story', 'abort by story because INC-4711', 'disable by story'])
  })

  it.each([
    { title: 'is cut if it is long', reason: 'x'.repeat(300), want: ` because ${'x'.repeat(255)}…` },
    { title: 'is empty if it is not a string', reason: 7, want: '' },
    { title: 'is empty if it is an empty string', reason: '', want: '' },
  ])('has a reason that $title', async ({ reason, want }) => {
    await watch()
    const action = JSON.stringify({ id: '1', type: 'abort', reason })
    await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': action } } })
    expect(await seen()).toEqual([`abort by story${want}`])
  })

  it('is neither an action over REST nor its execution by Tranche', async () => {
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await watch()
    await ask({ type: 'pause', body: {} })
    await ask({ type: 'resume', body: {} })
    await ask({ type: 'abort', body: { reason: 'no good' } })
    await stage.until('the template is put back', async () => (await stage.rollout()).status?.heldRevisions?.length === 1)
    await ask({ type: 'restart', body: {}, on: 'Rollout' })
    expect(await seen()).toEqual([])
  })

  it('is not an action that the tab of Argo CD records, which the server of Argo CD writes', async () => {
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await watch()
    await ask({ type: 'pause', body: {} }, 'argocd-server')
    await ask({ type: 'resume', body: {} }, 'argocd-server')
    await ask({ type: 'approve', body: { expectedStep: 1 } }, 'argocd-server')
    await untilPausedAt(stage, 2)
    expect(await seen()).toEqual([])
  })

  it('of a program that records its actions, but without a recorded action, is recorded', async () => {
    await watch()
    const { clock, simulator } = stage
    for (const name of ['tranche-cli', 'tranche-api', 'argocd-server']) {
      const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: `${name}/1`, log: silentLogger })
      const body = { spec: { strategy: { paused: name !== 'tranche-api' } } }
      await drive(clock, client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body }))
    }
    expect(await seen()).toEqual(['pause by tranche-cli', 'resume by tranche-api', 'pause by argocd-server'])
  })

  it('is not a change of another DaemonSet that names the Rollout', async () => {
    await watch()
    const { metadata, ...rest } = await stage.client.get<DaemonSet>(resourcePaths.daemonSets, stageKey)
    const { name, namespace, labels } = metadata
    const annotations = { [daemonSetAnnotations.rollout]: name }
    await stage.client.create(resourcePaths.daemonSets, { ...rest, metadata: { name: 'other', namespace, labels, annotations } } as never)
    const other = { ...stageKey, name: 'other' }
    for (const image of ['agent:v8', 'agent:v9']) {
      const template = { spec: { containers: [{ name: 'agent', image }] } }
      const body = { metadata: { annotations }, spec: { template } }
      await stage.client.patch(resourcePaths.daemonSets, other, { type: 'strategic', body })
    }
    expect(await seen()).toEqual([])
  })

  it('is kept until a controller leads, and recorded once although several have observed it', async () => {
    let isLed = false
    await watch(() => isLed)
    await watch(() => isLed)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    expect(await seen()).toEqual([])
    isLed = true
    expect(await seen()).toEqual(['pause by story'])
  })

  it('is recorded only if it is one of the last sixteen', async () => {
    await watch()
    for (let times = 0; times < 9; times++) {
      await stage.patchRollout({ spec: { strategy: { paused: true } } })
      await stage.patchRollout({ spec: { strategy: { paused: false } } })
    }
    const [first, ...others] = await seen()
    expect([first, others.length]).toEqual(['pause by story', 15])
  })
})
