import { expect, it } from 'vitest'
import { assumptionsOf } from '../src/assumptions.ts'

it.each([
  { measured: 30, crowd: 30, starts: 'all 30 of these started together' },
  { measured: 30, crowd: 24, starts: 'about 24 of these started together' },
])('$crowd of $measured measured pods that started together are named as $starts', ({ measured, crowd, starts }) => {
  const daemonSet = { metadata: {}, spec: { template: { spec: { containers: [] } } } }
  const inputs = {
    snapshot: { nodes: [], rollout: { spec: { strategy: {} } }, daemonSet, unread: [] },
    daemonSet,
    request: {},
    times: { believed: Array.from({ length: measured }, () => 3_000), isCoarse: false, crowd, stop: { ms: 0, source: 'ByPods' } },
    mishaps: [],
    minReadySeconds: 0,
  }
  expect(assumptionsOf(inputs as never)).toContain(
    `${starts}, so their times are measured from the kubelet's admission; a release may be faster than predicted`,
  )
})
