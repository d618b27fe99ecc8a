import { amountsOf, type Demand, type DemandingPod, type DemandingSpec, demandOf, growthOf, type HostPort, shortagesIn } from '@tranche/fit'
import fc from 'fast-check'
import { expect, it } from 'vitest'

const resources = fc.dictionary(fc.constantFrom('cpu', 'memory', 'example.com/gpu'), fc.nat(5).map(String), { maxKeys: 3 })
const container = fc.record({
  resources: fc.record({ requests: resources, limits: resources }, { requiredKeys: [] }),
  restartPolicy: fc.constantFrom('Always', 'OnFailure'),
})
const containers = fc.array(container, { maxLength: 4 })
const port: fc.Arbitrary<HostPort> = fc.record({
  ip: fc.constantFrom('0.0.0.0', '10.0.0.1', '10.0.0.2'),
  protocol: fc.constantFrom('TCP', 'UDP'),
  port: fc.constantFrom(80, 81),
})
const ports = fc.array(port, { maxLength: 3 })

it('the demand of a pod is the most that it takes at any time, resource by resource', () => {
  fc.assert(
    fc.property(containers, containers, (own, init) => {
      const { requests } = demandOf({ containers: own, initContainers: init })
      for (const name of ['cpu', 'memory', 'example.com/gpu']) expect(requests.get(name) ?? 0n).toBe(plainDemand(name, own, init))
    }),
  )
})

it('a port is taken by the first pod on the node that has it, on the same or on every address', () => {
  fc.assert(
    fc.property(fc.array(ports, { maxLength: 4 }), port, (onNode, wanted) => {
      const pods = onNode.map((hostPorts, at): DemandingPod => ({ ...named(`p${at}`), demand: { requests: new Map(), hostPorts } }))
      const demand: Demand = { requests: new Map(), hostPorts: [wanted] }
      const holder = pods.find((pod) => pod.demand.hostPorts.some((other) => isSamePort(wanted, other)))
      const takenBy = shortagesIn({ allocatable: amountsOf(), pods }, demand).map(
        (shortage) => 'takenBy' in shortage && shortage.takenBy.name,
      )
      expect(takenBy).toEqual(holder === undefined ? [] : [holder.name])
    }),
  )
})

it('a template grows by the ports that the earlier one had neither on the same nor on every address', () => {
  fc.assert(
    fc.property(ports, ports, (had, has) => {
      const isKept = (one: HostPort): boolean =>
        had.some((other) => isSamePort(one, other) && (other.ip === one.ip || other.ip === '0.0.0.0'))
      expect(growthOf(withPorts(had), withPorts(has))).toHaveLength(has.filter((one) => !isKept(one)).length)
    }),
  )
})

type Container = typeof container extends fc.Arbitrary<infer One> ? One : never

function plainDemand(name: string, own: readonly Container[], init: readonly Container[]): bigint {
  const asked = ({ resources: { requests = {}, limits = {} } }: Container): bigint =>
    BigInt(requests[name] ?? limits[name] ?? '0') * 1_000_000_000n
  const sum = (some: readonly Container[]): bigint => some.reduce((total, one) => total + asked(one), 0n)
  const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always'
  const starting = init.map((one, at) => sum(init.slice(0, at).filter(isSidecar)) + asked(one))
  return [sum([...own, ...init.filter(isSidecar)]), ...starting].reduce((most, one) => (one > most ? one : most), 0n)
}

function isSamePort(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === '0.0.0.0' || b.ip === '0.0.0.0')
}

function withPorts(hostPorts: readonly HostPort[]): DemandingSpec {
  return { containers: hostPorts.map(({ ip, protocol, port: hostPort }) => ({ ports: [{ hostPort, hostIP: ip, protocol }] })) }
}

function named(name: string): Omit<DemandingPod, 'demand'> {
  return { namespace: 'demo', name, uid: name, priority: 0 }
}
