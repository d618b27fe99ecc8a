import { type Demand, type DemandingSpec, demandOf, isWithin } from '@tranche/fit'
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

describe('a demand within another', () => {
  const old = demandOf({ containers: [{ ...asking({ cpu: '200m', memory: '1Gi' }), ports: [{ hostPort: 9100 }] }] })

  it.each<[sentence: string, spec: DemandingSpec, is: boolean]>([
    ['takes the same', { containers: [{ ...asking({ cpu: '200m', memory: '1Gi' }), ports: [{ hostPort: 9100 }] }] }, true],
    ['takes less', { containers: [asking({ cpu: '100m' })] }, true],
    ['does not take more of one resource', { containers: [asking({ cpu: '100m', memory: '2Gi' })] }, false],
    ['does not take another resource', { containers: [asking({ 'example.com/gpu': '1' })] }, false],
    ['does not take another port', { containers: [{ ports: [{ hostPort: 9101 }] }] }, false],
    ['does not take its port on another address', { containers: [{ ports: [{ hostPort: 9100, hostIP: '10.0.0.1' }] }] }, false],
  ])('%s', (_sentence, spec, is) => {
    expect(isWithin(demandOf(spec), old)).toBe(is)
  })
})

function textOf({ requests }: Demand): Readonly<Record<string, string>> {
  return Object.fromEntries([...requests].map(([name, amount]) => [name, formatQuantity(amount)]).toSorted())
}
