import { setImmediate as nextTurn } from 'node:timers/promises'
import { VirtualClock } from '@tranche/clock'
import { createSimulator, type Simulator } from '@tranche/sim'
import { resources } from '@tranche/sim-api'
import { bodyText, type Exchange } from '@tranche/wire'
import { expect, it } from 'vitest'

const PODS = '/api/v1/namespaces/default/pods'

async function statusOf(sim: Simulator, actor: string, path = PODS): Promise<number> {
  const answer = await sim.exchangeFor(actor)({ method: 'GET', path, headers: {} }, new AbortController().signal)
  return answer.status
}

it('an actor may do everything, unless roles are declared', async () => {
  const account = { name: 'system:serviceaccount:default:robot', groups: ['system:serviceaccounts'] }
  const sim = createSimulator({ clock: 'virtual', nodes: 0, actors: { 'tranche-executor': account } })
  expect(await statusOf(sim, 'tranche-controller')).toBe(200)
  expect(await statusOf(sim, 'tranche-executor')).toBe(403)
  await sim.clientFor({ name: 'admin' }).create(resources.roleBindings, {
    metadata: { name: 'robot', namespace: 'default' },
    roleRef: { kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot' }],
  })
  expect(await statusOf(sim, 'tranche-executor')).toBe(200)
  expect(await statusOf(sim, 'tranche-executor', '/api/v1/nodes')).toBe(403)
})

it('virtual time stops during a webhook call', async () => {
  const clock = new VirtualClock()
  const moments: number[] = []
  const judge: Exchange = async ({ body }) => {
    moments.push(clock.nowMs())
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    moments.push(clock.nowMs())
    const { uid } = (JSON.parse(body ?? '') as { request: { uid: string } }).request
    const text = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } })
    return { status: 200, headers: {}, body: oneChunk(text) }
  }
  const sim = createSimulator({ clock, nodes: 0, webhooks: { exchangeFor: () => judge } })
  await sim.clientFor({ name: 'admin' }).create(resources.validatingWebhookConfigurations, {
    metadata: { name: 'judge' },
    webhooks: [
      {
        name: 'judge.example.com',
        clientConfig: { url: 'https://127.0.0.1/admit' },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
  const tick = (): void => void clock.setTimer(1000, tick)
  tick()
  let answered: string | undefined
  const request = { method: 'POST', path: '/api/v1/namespaces/default/configmaps', headers: {}, body: '{"metadata":{"name":"a"}}' }
  void sim
    .exchangeFor('admin')(request, new AbortController().signal)
    .then(async (answer) => (answered = await bodyText(answer)))
  await clock.run({ done: () => answered !== undefined })
  expect(answered).toContain('"kind":"ConfigMap"')
  expect(moments).toHaveLength(2)
  expect(moments[1]).toBe(moments[0])
})

async function* oneChunk(text: string): AsyncGenerator<string, void> {
  yield text
}
