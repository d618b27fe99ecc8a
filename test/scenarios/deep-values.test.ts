import { resourcePaths } from '@tranche/kube-client'
import { bodyText, type WireRequest } from '@tranche/wire'
import { afterEach, describe, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

/** As many levels as an API server accepts in a body of which some more are around them. */
const LEVELS = 9_980
const DEEP = `${'{"a":'.repeat(LEVELS)}{}${'}'.repeat(LEVELS)}`

/** Sends text: JSON this deep cannot be serialized by the client. */
async function send(line: string, body: object): Promise<void> {
  const [method = '', path = ''] = line.split(' ')
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const text = JSON.stringify(body).replaceAll('"deep"', DEEP)
  const request: WireRequest = { method, path, headers: { 'content-type': type }, body: text }
  const response = await stage.simulator.exchangeFor('admin')(request, new AbortController().signal)
  if (response.status >= 300) expect.fail(await bodyText(response))
}

/** Stores a ControllerRevision of the DaemonSet with the hash of the stable revision, as a user may who can write nothing else. */
async function addDeepRevision(): Promise<void> {
  const { metadata } = await stage.daemonSet()
  const hash = (await stage.rollout()).status?.stableRevision ?? ''
  await send('POST /apis/apps/v1/namespaces/demo/controllerrevisions', {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      namespace: 'demo',
      name: 'node-agent-deep',
      labels: { app: 'node-agent', 'controller-revision-hash': hash },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: metadata.name, uid: metadata.uid, controller: true }],
    },
    data: { spec: { template: { x: 'deep' } } },
    revision: 0,
  })
}

const act = (action: object): Promise<void> =>
  stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })

const steps = [{ replicas: '100%' }]

describe('a value nested ten thousand levels deep (G9)', () => {
  it('in a ControllerRevision keeps no pause from being acknowledged', async () => {
    stage = await setStage({ nodes: 20, maxUnavailable: 1, steps })
    await stage.setImage('v2')
    await stage.until('the release runs', () => deletions(stage) > 2)
    await addDeepRevision()
    await stage.pass(200)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.pass(5_000)
    const before = deletions(stage)
    await stage.pass(120_000)
    expect(deletions(stage)).toBe(before)
    expect((await stage.rollout()).status?.conditions?.map(({ reason }) => reason)).toContain('Paused')
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('in a ControllerRevision keeps no abort from putting the stable template back', async () => {
    stage = await setStage({ nodes: 6, steps: [{ replicas: 1, pause: {} }, ...steps] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await addDeepRevision()
    stage.program('controller-1').kill()
    await stage.startController('controller-2')
    await act({ id: 'abort-1', type: 'abort' })
    await untilReleased(stage, 'v1')
    expectKept(stage)
  })

  it('in the status of a BatchRelease ends no program, neither at once nor when the watches list again', async () => {
    stage = await setStage({ nodes: 6, steps: [{ replicas: 1, pause: {} }, ...steps] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const { items } = await stage.client.list<{ metadata: { name: string } }>(resourcePaths.batchReleases, { namespace: 'demo' })
    const path = `/apis/rollouts.kruise.io/v1beta1/namespaces/demo/batchreleases/${items[0]!.metadata.name}/status`
    await send(`PATCH ${path}`, { status: { stableTemplate: { revision: 'forged', template: { spec: 'deep' } } } })
    await stage.pass(60_000)
    stage.program('controller-1').kill()
    await stage.startController('controller-2')
    await act({ id: 'approve-1', type: 'approve', expectedStep: 1 })
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})
