import type { DaemonSet } from '@tranche/kube-types'
import { expect, it } from 'vitest'
import { capacityText } from '../src/capacity-text.ts'

const withPod = (spec: object): DaemonSet => ({ spec: { template: { spec } } }) as DaemonSet
const asking = (requests: Readonly<Record<string, string>>, ports: readonly object[] = []): DaemonSet =>
  withPod({ containers: [{ name: 'agent', resources: { requests }, ports }] })

it.each([
  ['asks for the same', asking({ cpu: '100m' }), asking({ cpu: '0.1' })],
  ['asks for less', asking({ cpu: '100m', memory: '1Gi' }), asking({ cpu: '50m' })],
  [
    'has the same port of the node',
    asking({}, [{ containerPort: 80, hostPort: 9100 }]),
    asking({}, [{ containerPort: 81, hostPort: 9100 }]),
  ],
  ['asks for nothing', asking({}), withPod({})],
])('a new pod that %s has the room of the one before it', (_name, before, planned) => {
  expect(capacityText(before, planned)).toBe('other pods on the nodes are ignored: each new pod is assumed to fit where the old one ran')
})

it.each([
  ['more of something', asking({ cpu: '100m', memory: '1Gi' }), asking({ cpu: '200m', memory: '1Gi' }), 'cpu (200m instead of 100m)'],
  ['something new', asking({ cpu: '100m' }), asking({ cpu: '100m', 'example.com/gpu': '1' }), 'example.com/gpu (1)'],
  ['another port', asking({}), asking({}, [{ containerPort: 80, hostPort: 9100, protocol: 'UDP' }]), 'UDP port 9100 of the node'],
  [
    'a port in the network of the node',
    withPod({ containers: [] }),
    withPod({ hostNetwork: true, containers: [{ name: 'agent', ports: [{ containerPort: 80 }] }] }),
    'TCP port 80 of the node',
  ],
])('whether there is room for %s is said to be unknown', (_name, before, planned, what) => {
  expect(capacityText(before, planned)).toMatch(/^not known: whether the nodes have room /)
  expect(capacityText(before, planned).endsWith(`: ${what}`)).toBe(true)
})
