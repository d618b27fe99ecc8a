import { afterEach, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '50%', pause: {} }, { replicas: '100%' }]
const act = (action: object): Promise<void> =>
  stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } })
const refusal =
  /revision \w+ failed or was aborted, and its policy has failure.onReapply: Deny; apply another template, or run tranche retry on its Rollout/

it.each(['policy', 'webhook'] as const)(
  'admission by %s rejects an aborted version once its template is put back, until a retry; other versions pass (G12)',
  async (admission) => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, admission, policy: { failure: { onReapply: 'Deny' } } })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await act({ id: 'stop', type: 'abort', expectedStep: 1 })
    await stage.until('v1 is put back', async () => JSON.stringify((await stage.daemonSet()).spec.template).includes(':v1'))
    await expect(stage.setImage('v2')).rejects.toThrow(refusal)
    await untilReleased(stage, 'v1')
    const before = deletions(stage)
    const revision = (await stage.rollout()).status?.heldRevisions?.[0]?.revision
    await expect(stage.setImage('v2')).rejects.toThrow(refusal)
    await stage.pass(60_000)
    expect([deletions(stage), (await stage.rollout()).status?.phase]).toEqual([before, 'Healthy'])

    await stage.setImage('v3')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v3')
    await act({ id: 'again', type: 'retry', revision })
    await stage.until('v2 is accepted again', async () => stage.setImage('v2').then(isTaken, isNot))
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  },
)

const isTaken = (): boolean => true
const isNot = (): boolean => false
