import { type Demand, type DemandingSpec, demandOf, growthOf } from '@tranche/fit'
import { formatQuantity } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const asking = (
  requests: Readonly<Record<string, string>>,
): { readonly resources: { readonly requests: Readonly<Record<string, string>> } } => ({
  resources: { requests },
})

describe('the demand of a pod', () => {
  it.each<[sentence: string, spec: DemandingSpec, requests: Readonly<Record<string, string>>]>([
    ['is one pod without requests', {}, { pods: '1' }],
    [
      'is the sum of its containers',
      { containers: [asking({ cpu: '100m', memory: '1Gi' }), asking({ cpu: '0.2' })] },
      { cpu: '300m', memory: '1073741824', pods: '1' },
    ],
    [
      'is the largest init container if that asks for more',
      { containers: [asking({ cpu: '1' })], initContainers: [asking({ cpu: '2' }), asking({ cpu: '500m' })] },
      { cpu: '2', pods: '1' },
    ],
    [
      'has init containers that restart beside the containers',
      { containers: [asking({ cpu: '1' })], initContainers: [{ ...asking({ cpu: '500m' }), restartPolicy: 'Always' }] },
      { cpu: '1500m', pods: '1' },
    ],
    [
      'has init containers that restart beside the init containers that follow',
      {
        containers: [asking({ cpu: '1' })],
        initContainers: [{ ...asking({ cpu: '500m' }), restartPolicy: 'Always' }, asking({ cpu: '2' })],
      },
      { cpu: '2500m', pods: '1' },
    ],
    [
      'has no init container that restarts beside those before it',
      {
        containers: [asking({ cpu: '1' })],
        initContainers: [asking({ cpu: '1800m' }), { ...asking({ cpu: '500m' }), restartPolicy: 'Always' }],
      },
      { cpu: '1800m', pods: '1' },
    ],
    [
      'is that of the whole pod where it is given',
      { ...asking({ cpu: '3' }), containers: [asking({ cpu: '1', memory: '5' })] },
      { cpu: '3', memory: '5', pods: '1' },
    ],
    [
      'is the limit of the whole pod where nothing else is given',
      { resources: { limits: { cpu: '3', memory: '7' } }, containers: [asking({ memory: '5' })] },
      { cpu: '3', memory: '5', pods: '1' },
    ],
    ['includes the overhead of its runtime', { overhead: { cpu: '50m' }, containers: [asking({ cpu: '1' })] }, { cpu: '1050m', pods: '1' }],
  ])('%s', (_sentence, spec, requests) => {
    expect(textOf(demandOf(spec))).toEqual(requests)
  })

  it('includes the host ports of containers and of init containers that restart', () => {
    const withPort = (hostPort: number, fields: object = {}): object => ({ ports: [{ hostPort, ...fields }, {}] })
    const spec = {
      containers: [withPort(9100)],
      initContainers: [withPort(1), { ...withPort(53, { protocol: 'UDP', hostIP: '127.0.0.1' }), restartPolicy: 'Always' }],
    }
    expect(demandOf(spec).hostPorts).toEqual([
      { ip: '0.0.0.0', protocol: 'TCP', port: 9100 },
      { ip: '127.0.0.1', protocol: 'UDP', port: 53 },
    ])
  })
})

describe('the growth of a template', () => {
  const old: DemandingSpec = { containers: [{ ...asking({ cpu: '200m', memory: '1Gi' }), ports: [{ hostPort: 9100 }] }] }

  it.each<[sentence: string, spec: DemandingSpec, growth: readonly string[]]>([
    ['is nothing for the same', old, []],
    ['is nothing for less', { containers: [asking({ cpu: '100m' })] }, []],
    ['is more of one resource', { containers: [asking({ cpu: '0.5', memory: '512Mi' })] }, ['cpu (500m instead of 200m)']],
    ['is another resource', { containers: [asking({ 'example.com/gpu': '1' })] }, ['example.com/gpu (1)']],
    ['is another port', { containers: [{ ports: [{ hostPort: 9101, protocol: 'UDP' }] }] }, ['UDP port 9101 of the node']],
    ['is not its port on one address, after every address', { containers: [{ ports: [{ hostPort: 9100, hostIP: '10.0.0.1' }] }] }, []],
    ['is its port of another protocol', { containers: [{ ports: [{ hostPort: 9100, protocol: 'UDP' }] }] }, ['UDP port 9100 of the node']],
    ['is more memory, in powers of two', { containers: [asking({ memory: '1536Mi' })] }, ['memory (1536Mi instead of 1Gi)']],
    [
      'is a port in the network of the node',
      { hostNetwork: true, containers: [{ ports: [{ containerPort: 80 }] }] },
      ['TCP port 80 of the node'],
    ],
    ['is a limit that has no request', { containers: [{ resources: { limits: { cpu: '300m' } } }] }, ['cpu (300m instead of 200m)']],
  ])('%s', (_sentence, spec, growth) => {
    expect(growthOf(old, spec)).toEqual(growth)
  })

  it('is its port on every address, after one address', () => {
    const onOne: DemandingSpec = { containers: [{ ports: [{ hostPort: 9100, hostIP: '10.0.0.1' }] }] }
    const onEvery: DemandingSpec = { containers: [{ ports: [{ hostPort: 9100 }] }] }
    const onOther: DemandingSpec = { containers: [{ ports: [{ hostPort: 9100, hostIP: '10.0.0.2' }] }] }
    expect(growthOf(onOne, onEvery)).toEqual(['TCP port 9100 of the node'])
    expect(growthOf(onOne, onOther)).toEqual(['TCP port 9100 of the node on 10.0.0.2'])
  })

  it('names ten, and counts the others', () => {
    const ports = Array.from({ length: 14 }, (_, at) => ({ hostPort: 9_000 + at }))
    const growth = growthOf({ containers: [] }, { containers: [{ ports }] })
    expect([growth.length, growth[9], growth.at(-1)]).toEqual([11, 'TCP port 9009 of the node', '4 more'])
  })
})

function textOf({ requests }: Demand): Readonly<Record<string, string>> {
  return Object.fromEntries([...requests].map(([name, amount]) => [name, formatQuantity(amount)]).toSorted())
}
