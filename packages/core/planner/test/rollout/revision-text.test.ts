import type { ControllerRevision } from '@tranche/kube-types'
import { imagesText } from '@tranche/planner'
import { expect, it } from 'vitest'

const holding = (...images: readonly string[]): ControllerRevision =>
  ({
    data: { spec: { template: { spec: { containers: images.map((image) => ({ name: 'c', image })) } } } },
  }) as unknown as ControllerRevision

it('names the images of a revision without their registries', () => {
  expect(imagesText(holding('registry.example/team/agent:v1', 'proxy:v2'))).toBe('agent:v1, proxy:v2')
})

it.each([[['x'.repeat(400_000)]], [Array.from({ length: 10_000 }, () => 'agent:v1')]])(
  'cuts what a template calls images, so that a message with it fits into a status',
  (images) => {
    expect(imagesText(holding(...images)).length).toBeLessThan(300)
  },
)
