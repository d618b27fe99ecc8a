import type { ReleasePolicy } from '@tranche/api-schema'
import type { VirtualClock } from '@tranche/clock'
import type { EgressClient, EgressRequest, EgressResult } from '@tranche/egress'
import { resourcePaths } from '@tranche/kube-client'
import { rolloutAnnotations } from '@tranche/kube-types'
import { afterEach, expect, it } from 'vitest'
import { untilPausedAt } from './looks.ts'
import { createReceivers, type Receivers } from './receivers.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
let receivers: Receivers
afterEach(() => stage.end())

const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }
const tenant = 'tenant'
const RECEIVERS = 15
const DAEMON_SETS = ['x', 'y', 'z']

it('receivers of one namespace that do not answer delay no notification of another: they take some of the senders', async () => {
  const slow = { underWay: 0, most: 0 }
  stage = await setStage({
    nodes: 4,
    steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }],
    policy: { notify: [to('fast')] },
    egress: (clock) => withSlowOnes((receivers = createReceivers(() => clock.nowMs())), clock, slow),
  })
  await setTenant()
  for (const name of DAEMON_SETS) await setImage(name, 'v2')
  await stage.until('all senders of the tenant wait', () => slow.underWay === 8)
  await stage.pass(1_000)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  await stage.until('it is reported', () => receivers.heard.some(({ event }) => event === 'StepPaused'))
  expect(receivers.heard.map(({ event }) => event)).toEqual(['ReleaseStarted', 'StepPaused'])
  expect(slow).toEqual({ underWay: 8, most: 8 })
})

/** Receivers named `slow-…` answer nothing for a minute. */
function withSlowOnes({ egress }: Receivers, clock: VirtualClock, slow: { underWay: number; most: number }): EgressClient {
  async function send(request: EgressRequest, signal: AbortSignal): Promise<EgressResult> {
    if (!new URL(request.url).pathname.startsWith('/slow-')) return egress.send(request, signal)
    slow.underWay++
    slow.most = Math.max(slow.most, slow.underWay)
    await new Promise<void>((resolve) => clock.setTimer(60_000, resolve))
    slow.underWay--
    return { kind: 'failed', reason: 'Timeout', message: 'hooks.example.com did not answer' }
  }
  return { ...egress, send }
}

async function setTenant(): Promise<void> {
  const { client } = stage
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: tenant } })
  const notify = Array.from({ length: RECEIVERS }, (_, at) => to(`slow-${at}`))
  await client.create(resourcePaths.releasePolicies, {
    apiVersion: 'tranche.dev/v1alpha1',
    kind: 'ReleasePolicy',
    metadata: { namespace: tenant, name: 'slow' },
    spec: { notify },
  } as never)
  for (const name of DAEMON_SETS) {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'x', image: 'registry.example/x:v1' }] } }
    const spec = { selector: { matchLabels: { app: name } }, updateStrategy: { type: 'OnDelete' }, template }
    await client.create(resourcePaths.daemonSets, { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { namespace: tenant, name }, spec })
    await client.create(resourcePaths.rollouts, {
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'Rollout',
      metadata: { namespace: tenant, name, annotations: { [rolloutAnnotations.releasePolicy]: 'slow' } },
      spec: {
        workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name },
        strategy: { canary: { steps: [{ replicas: '50%', pause: {} }, { replicas: '100%' }] } },
      },
    } as never)
  }
  await stage.pass(30_000)
}

function setImage(name: string, tag: string): Promise<unknown> {
  const body = { spec: { template: { spec: { containers: [{ name: 'x', image: `registry.example/x:${tag}` }] } } } }
  return stage.client.patch(resourcePaths.daemonSets, { namespace: tenant, name }, { type: 'merge', body })
}

function to(name: string): NonNullable<ReleasePolicy['spec']['notify']>[number] {
  return { name, webhook: { url: `https://hooks.example.com/${name}` } }
}
