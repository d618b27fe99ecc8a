import { amountsOf, type DemandingPod, demandOf, type NodeRoom, shortagesIn, shortageText, takerIn } from '@tranche/fit'
import { describe, expect, it } from 'vitest'

function pod(
  name: string,
  requests: Readonly<Record<string, string>>,
  fields: { readonly port?: number; readonly priority?: number } = {},
): DemandingPod {
  const ports = fields.port === undefined ? [] : [{ hostPort: fields.port }]
  return {
    namespace: 'demo',
    name,
    uid: name,
    priority: fields.priority ?? 0,
    demand: demandOf({ containers: [{ resources: { requests }, ports }] }),
  }
}

function withPortOn(ip: string): DemandingPod {
  return { ...pod('p', {}), demand: { requests: new Map(), hostPorts: [{ ip, protocol: 'TCP', port: 9100 }] } }
}

function room(...pods: readonly DemandingPod[]): NodeRoom {
  return { allocatable: amountsOf({ cpu: '4', memory: '8Gi', pods: '3' }), pods }
}

describe('the room on a node', () => {
  it.each<[sentence: string, room: NodeRoom, ours: DemandingPod, text: string]>([
    ['is enough for what is free', room(pod('a', { cpu: '3' })), pod('x', { cpu: '1', memory: '8Gi' }), ''],
    ['lacks what others request', room(pod('a', { cpu: '3500m' })), pod('x', { cpu: '1' }), 'cpu: 1 requested, 500m of 4 free'],
    ['lacks a resource that the node has not', room(), pod('x', { 'example.com/gpu': '1' }), 'example.com/gpu: 1 requested, 0 of 0 free'],
    ['needs none of a resource that is not requested', room(pod('a', { cpu: '5' })), pod('x', { memory: '1' }), ''],
    [
      'lacks memory, which is shown in powers of two',
      room(pod('a', { memory: '7680Mi' })),
      pod('x', { memory: '1Gi' }),
      'memory: 1Gi requested, 512Mi of 8Gi free',
    ],
    ['may have less than nothing free', room(pod('a', { cpu: '5' })), pod('x', { cpu: '1m' }), 'cpu: 1m requested, -1 of 4 free'],
    [
      'holds as many pods as the node allows',
      room(pod('a', {}), pod('b', {}), pod('c', {})),
      pod('x', {}),
      'pods: 1 requested, 0 of 3 free',
    ],
    ['has each port once', room(pod('a', {}, { port: 9100 })), pod('x', {}, { port: 9100 }), 'TCP port 9100 is taken by pod a'],
    [
      'has a port once for each protocol',
      room(pod('a', {}, { port: 9100 })),
      { ...pod('x', {}), demand: { requests: new Map(), hostPorts: [{ ip: '0.0.0.0', protocol: 'UDP', port: 9100 }] } },
      '',
    ],
    ['has a port once for each address', { ...room(), pods: [withPortOn('10.0.0.1')] }, withPortOn('10.0.0.2'), ''],
    [
      'has a port on no address that another pod has on every address',
      room(pod('a', {}, { port: 9100 })),
      withPortOn('10.0.0.2'),
      'TCP port 9100 is taken by pod a',
    ],
    ['has other ports', room(pod('a', {}, { port: 9101 })), pod('x', {}, { port: 9100 }), ''],
  ])('%s', (_sentence, given, ours, text) => {
    expect(shortageText(shortagesIn(given, ours.demand), 'demo')).toBe(text)
  })
})

function terminating(name: string, cpu: string): DemandingPod {
  return { ...pod(name, { cpu }, { priority: 10 }), isTerminating: true }
}

describe('a pending pod', () => {
  const ours = { ...pod('ours', { cpu: '2' }, { priority: 10 }), replacedPriority: 11 }

  it.each<[sentence: string, room: NodeRoom, pending: readonly DemandingPod[], taker: string | null]>([
    ['of the same priority takes the place', room(pod('a', { cpu: '1' })), [pod('w', { cpu: '2' }, { priority: 10 })], 'w'],
    ['of higher priority takes the place', room(pod('a', { cpu: '1' })), [pod('w', { cpu: '2' }, { priority: 11 })], 'w'],
    ['of lower priority does not', room(pod('a', { cpu: '1' })), [pod('w', { cpu: '2' }, { priority: 9 })], null],
    ['that leaves enough does not', room(pod('a', { cpu: '1' })), [pod('w', { cpu: '1' }, { priority: 11 })], null],
    ['that does not fit itself does not', room(pod('a', { cpu: '1' }, { priority: 11 })), [pod('w', { cpu: '4' }, { priority: 11 })], null],
    [
      'together with another takes the place, the one of higher priority first',
      room(),
      [pod('v', { cpu: '1' }, { priority: 11 }), pod('w', { cpu: '1500m' }, { priority: 12 })],
      'v',
    ],
    [
      'alone takes the place, though another one of higher priority would leave too little for it',
      room(),
      [pod('v', { cpu: '2' }, { priority: 11 }), pod('w', { cpu: '2500m' }, { priority: 10 })],
      'w',
    ],
    [
      'takes the place once a pod that is being deleted is gone',
      room(terminating('a', '2')),
      [pod('w', { cpu: '3' }, { priority: 10 })],
      'w',
    ],
    [
      'takes the place of pods of lower priority',
      room(pod('a', { cpu: '2' }, { priority: 9 })),
      [pod('w', { cpu: '3' }, { priority: 10 })],
      'w',
    ],
    [
      'does not preempt pods where its class forbids that',
      room(pod('a', { cpu: '2' }, { priority: 9 })),
      [{ ...pod('w', { cpu: '3' }, { priority: 10 }), isNonPreempting: true }],
      null,
    ],
    [
      'preempts none where it could have preempted the present pod as well',
      room(pod('a', { cpu: '2' }, { priority: 9 })),
      [pod('w', { cpu: '3' }, { priority: 12 })],
      null,
    ],
    [
      'does not preempt pods of its priority',
      room(pod('a', { cpu: '2' }, { priority: 10 })),
      [pod('w', { cpu: '3' }, { priority: 10 })],
      null,
    ],
    ['takes the last place for a pod', room(pod('a', {}), pod('b', {})), [pod('w', {}, { priority: 10 })], 'w'],
  ])('%s', (_sentence, given, pending, taker) => {
    expect(takerIn(given, ours, pending)?.pod.name ?? null).toBe(taker)
  })

  it('takes the place together with another once a pod that is being deleted is gone', () => {
    const pending = [pod('v', { cpu: '2' }, { priority: 11 }), pod('w', { cpu: '2' }, { priority: 10 })]
    const one = pod('one', { cpu: '1' }, { priority: 10 })
    expect(takerIn(room(terminating('a', '1')), one, pending)?.pod.name).toBe('w')
  })

  it('alone takes a port, though another one of higher priority would leave too little for it', () => {
    const pending = [pod('v', { cpu: '3' }, { priority: 11 }), pod('w', { cpu: '2' }, { priority: 10, port: 9100 })]
    const one = pod('one', { cpu: '1' }, { priority: 10, port: 9100 })
    const taker = takerIn(room(), one, pending)
    expect(taker?.pod.name).toBe('w')
    expect(shortageText(taker?.shortages ?? [], 'demo')).toBe('TCP port 9100 is taken by pod w')
  })
})
