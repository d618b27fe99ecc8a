import { expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

it('the status reports in a separate field when a release settles, and only while it settles', () => {
  const fake = new FakeCluster({ steps: [{ replicas: '100%' }] })
  settle(fake)
  fake.setImage('v2')
  const seen = new Set<string | undefined>()
  settle(fake, () => {
    const { phase, settlingUntil, message } = fake.rollout!.status!
    if (settlingUntil !== undefined) expect([phase, message]).toEqual(['Progressing', expect.stringContaining(settlingUntil)])
    seen.add(settlingUntil)
  })
  expect([...seen]).toEqual([undefined, expect.stringMatching(/^\d{4}-.*Z$/)])
  expect(fake.rollout!.status).toMatchObject({ phase: 'Healthy' })
  expect(fake.rollout!.status).not.toHaveProperty('settlingUntil')
})
