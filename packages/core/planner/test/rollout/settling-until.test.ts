import { expect, it } from 'vitest'
import { settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../../test/toys/toy-cluster.ts'

it('says until when a release settles in a field of its own, and only while it settles', () => {
  const toy = new ToyCluster({ steps: [{ replicas: '100%' }] })
  settle(toy)
  toy.setImage('v2')
  const seen = new Set<string | undefined>()
  settle(toy, () => {
    const { phase, settlingUntil, message } = toy.rollout!.status!
    if (settlingUntil !== undefined) expect([phase, message]).toEqual(['Progressing', expect.stringContaining(settlingUntil)])
    seen.add(settlingUntil)
  })
  expect([...seen]).toEqual([undefined, expect.stringMatching(/^\d{4}-.*Z$/)])
  expect(toy.rollout!.status).toMatchObject({ phase: 'Healthy' })
  expect(toy.rollout!.status).not.toHaveProperty('settlingUntil')
})
