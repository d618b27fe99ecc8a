import { planRollout } from '@tranche/planner'
import { expect, it } from 'vitest'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'
import { settle } from '../../../../../test/fakes/settle.ts'

/** Numbers of the revisions of v1 and v2, as the watch of ControllerRevisions shows them once v2 was replaced by v1 and applied again. */
it.each<[string, Readonly<Record<string, number>>, number]>([
  ['shows both events', { 'hash-v1': 3, 'hash-v2': 4 }, 1],
  ['shows the event of the other template alone', { 'hash-v1': 3, 'hash-v2': 2 }, 1],
  ['shows neither event: the change is missed', { 'hash-v1': 1, 'hash-v2': 2 }, 2],
])(
  'a template that was replaced and applied again is released from step 1 or continues, where the watch of revisions %s (G3)',
  (_what, numbers, step) => {
    const fake = new FakeCluster({
      nodes: 4,
      steps: [{ replicas: '25%', pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }],
    })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    fake.act({ id: '1', type: 'approve', expectedStep: 1 })
    settle(fake)
    expect(fake.rollout?.status).toMatchObject({ canaryNumber: 2, canaryStatus: { currentStepIndex: 2, currentStepState: 'StepPaused' } })
    for (const image of ['v1', 'v2']) {
      fake.setImage(image)
      fake.actNatively()
    }
    const view = fake.rolloutView()!
    const revisions = view.revisions.map((one) => ({
      ...one,
      revision: numbers[one.metadata.name.replace(/^.*(?=hash-)/, '')] ?? 0,
    }))
    const plan = planRollout({ ...view, revisions })
    expect(plan).toMatchObject({ kind: 'writeStatus', status: { canaryStatus: { canaryRevision: 'hash-v2', currentStepIndex: step } } })
  },
)
