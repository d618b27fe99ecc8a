import { amountsOf, type Demand, type DemandingPod, demandOf, growthOf, takerIn } from '@tranche/fit'
import { expect, it } from 'vitest'
import { cpuMs } from '../../../../test/fakes/cpu-ms.ts'

/** About a megabyte of text, as much as an API server stores of one object. */
const MANY = 10_000

it.each<[sentence: string, compute: () => unknown]>([
  [
    'demand of a pod with 10,000 containers that each request another resource',
    () => demandOf({ containers: all((at) => ({ resources: { requests: { [`example.com/r${at}`]: '1' } } })) }),
  ],
  [
    'demand of a pod with 10,000 init containers that stay and each request another resource',
    () =>
      demandOf({ initContainers: all((at) => ({ restartPolicy: 'Always', resources: { requests: { [`example.com/r${at}`]: '1' } } })) }),
  ],
  ['demand of a pod that requests a number of a million digits', () => demandOf({ overhead: { cpu: '9'.repeat(1_000_000) } })],
  ['demand of a pod that requests a million digits and a letter', () => demandOf({ overhead: { cpu: `${'9'.repeat(1_000_000)}x` } })],
  ['growth of a template with 10,000 ports by as many', () => growthOf(listening(0), listening(MANY))],
  [
    'room beside 1,000 pending pods with 100 ports each, on a node with 200 such pods',
    () =>
      takerIn(
        { allocatable: amountsOf({ pods: '2000' }), pods: portPods(0, 200) },
        { priority: 0, demand: onePod() },
        portPods(200, 1_000),
      ),
  ],
  [
    'room beside 1,000 pending pods with 100 ports each, of as many priorities, on a node with 200 such pods',
    () =>
      takerIn(
        { allocatable: amountsOf({ pods: '2000' }), pods: portPods(0, 200) },
        { priority: 0, demand: onePod() },
        portPods(200, 1_000).map((pod, priority) => ({ ...pod, priority })),
      ),
  ],
])('the %s is computed in less than half a second', (_sentence, compute) => {
  const beganMs = cpuMs()
  compute()
  expect(cpuMs() - beganMs).toBeLessThan(500)
})

function all<T>(one: (at: number) => T): readonly T[] {
  return Array.from({ length: MANY }, (_, at) => one(at))
}

function listening(from: number): Parameters<typeof growthOf>[0] {
  return { containers: [{ ports: all((at) => ({ hostPort: from + at + 1 })) }] }
}

/** Pods that all have one port, each on other addresses, so that all of them fit. */
function portPods(from: number, count: number): readonly DemandingPod[] {
  return Array.from({ length: count }, (_, index) => {
    const ip = (at: number): string => `10.${Math.floor((from + index) / 256)}.${(from + index) % 256}.${at}`
    const hostPorts = Array.from({ length: 100 }, (_each, at) => ({ ip: ip(at), protocol: 'TCP', port: 80 }))
    return { namespace: 'tenant', name: `p${from + index}`, uid: `p${from + index}`, priority: 0, demand: { ...onePod(), hostPorts } }
  })
}

function onePod(): Demand {
  return { requests: amountsOf({ pods: '1' }), hostPorts: [] }
}
